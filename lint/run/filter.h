/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns texts into fixed texts and the remaining findings: the common part of
 * the KRM function, the Helm post-renderer and the Argo CD plugin.
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
	struct buf text;  /* the input, or its fixed version */
	struct source source;
	struct masked masked;
	uint64_t objects; /* number of objects found in it */
};

struct filter {
	struct options *options;
	struct rule_set rules;
	char *cwd;
	struct policies policies;
	struct clusters clusters;
	const struct cluster *cluster; /* in force, or NULL */
	const struct policy *policy;   /* in force */
	const char *namespace;	       /* of objects without one, or NULL */
	struct filter_text *texts;
	size_t ntexts, texts_size;
	/* State of the current texts. */
	struct arena arena;
	struct run run;
	struct finding_memory memory;
	struct finding *findings; /* sorted, suppressed ones included */
	size_t n, size;
};

/* Chooses the policy, for files of that name in the current folder. Returns 0,
 * or 2 after a message. */
int filter_open(struct filter *filter, struct options *options,
		const char *name);
/* Adds an empty text; both live until filter_release(), its address until the
 * next one is added. The name is copied. */
struct filter_text *filter_add(struct filter *filter, const char *name);
/* Adds standard input as a text. Returns 0, or 2 after a message. */
int filter_add_stdin(struct filter *filter, const char *name);
void filter_release(struct filter *filter);
/* Fixes the first text (safe fixes, or all). Returns 0, or 2. */
int filter_repair(struct filter *filter, bool unsafe);
/* Lints the current texts and sets findings. */
void filter_lint(struct filter *filter);
/* Returns the number of remaining findings at or above --fail-on. */
size_t filter_failures(const struct filter *filter);
/* Reports the findings, without the summary's timing. */
void filter_report(struct filter *filter, const struct report_format *format,
		   FILE *out);

#endif
