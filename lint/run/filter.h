/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A text in, the repaired text and the remaining findings out: the common part
 * of the KRM function and the Helm post-renderer.
 */
#ifndef LINT_FILTER_H
#define LINT_FILTER_H

#include "engine/run.h"
#include "fix.h"
#include "lint/files/input.h"
#include "lint/options/options.h"
#include "lint/report/report.h"
#include "lint/settings/clusters.h"
#include "lint/settings/policies.h"
#include "lint/text/covered.h"
#include "spill.h"

struct filter {
	struct options *options;
	struct rule_set rules;
	char *cwd;
	struct policies policies;
	struct clusters clusters;
	const struct cluster *cluster; /* in force, or NULL */
	const struct policy *policy;   /* in force */
	const char *namespace;	       /* of objects that name none, or NULL */
	const char *name;	       /* of the input, in messages */
	struct buf text; /* the input, or what the repairs made of it */
	/* Of the text as it is now. */
	struct arena arena;
	struct source source;
	struct run run;
	struct spill_record *records; /* of the findings, until they are read */
	size_t nrecords, records_size;
	struct finding *findings; /* sorted, suppressed ones included */
	size_t n;
	struct covered covered;
	struct spill spill;
};

/* Read standard input and choose the policy. 0, or 2 after a message. */
int filter_open(struct filter *filter, struct options *options,
		const char *name);
void filter_release(struct filter *filter);
/* Repair the text (safe repairs, or all) unless none are wanted. 0, or 2. */
int filter_repair(struct filter *filter, bool unsafe);
/* Lint the text as it is now: fills in findings. 0, or 2 after a message: some
 * are lost. */
int filter_lint(struct filter *filter);
/* Findings at or above --fail-on that are left. */
size_t filter_failures(const struct filter *filter);
/* A report of the findings, without the summary's timing. */
void filter_report(struct filter *filter, const struct report_format *format,
		   FILE *out);

#endif
