/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts in, the repaired texts and the remaining findings out: the common part
 * of the KRM function, the Helm post-renderer and the Argo CD plugin.
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
#include "lint/text/masked.h"

/* One text of the set. */
struct filter_text {
	const char *name; /* in messages */
	struct buf text;  /* the input, or what the repairs made of it */
	struct source source;
	struct masked masked;
	uint64_t objects; /* that were found in it */
};

struct filter {
	struct options *options;
	struct rule_set rules;
	char *cwd;
	struct policies policies;
	struct clusters clusters;
	const struct cluster *cluster; /* in force, or NULL */
	const struct policy *policy;   /* in force */
	const char *namespace;	       /* of objects that name none, or NULL */
	struct filter_text *texts;
	size_t ntexts, texts_size;
	/* State of the current texts. */
	struct arena arena;
	struct run run;
	struct finding_memory memory;
	struct finding *findings; /* sorted, suppressed ones included */
	size_t n, size;
};

/* Choose the policy, for files of that name in the current folder. 0, or 2
 * after a message. */
int filter_open(struct filter *filter, struct options *options,
		const char *name);
/* Another text, empty; both live until filter_release(), its place until the
 * next one is added. The name is copied. */
struct filter_text *filter_add(struct filter *filter, const char *name);
/* Standard input is one. 0, or 2 after a message. */
int filter_add_stdin(struct filter *filter, const char *name);
void filter_release(struct filter *filter);
/* Repair the first text (safe repairs, or all). 0, or 2. */
int filter_repair(struct filter *filter, bool unsafe);
/* Lint the texts as they are now: fills in findings. */
void filter_lint(struct filter *filter);
/* Findings at or above --fail-on that are left. */
size_t filter_failures(const struct filter *filter);
/* A report of the findings, without the summary's timing. */
void filter_report(struct filter *filter, const struct report_format *format,
		   FILE *out);

#endif
