/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fixes texts and lints the result: the common part of the KRM function, the
 * Helm post-renderer and the Argo CD plugin.
 */
#ifndef LINT_FILTER_H
#define LINT_FILTER_H

#include "engine/run.h"
#include "fix.h"
#include "lint/files/input.h"
#include "lint/options/options.h"
#include "lint/report/report.h"
#include "lint/settings/settings.h"

/* One of the texts. */
struct filter_text {
	const char *name; /* name in messages */
	struct buf text;  /* the input, or its fixed version */
	struct source source;
	struct masked masked;
	uint64_t objects; /* number of objects in the text */
};

struct filter {
	struct options *options;
	struct rule_set rules;
	char *cwd;
	struct policies policies;
	struct clusters clusters;
	const struct cluster *cluster; /* cluster state that is used, or NULL */
	const struct policy *policy;   /* policy that is used */
	/* for objects without a namespace, or NULL */
	const char *namespace;
	struct filter_text *texts;
	size_t ntexts, texts_size;
	/* Results for the current texts. */
	struct arena arena;
	struct run run;
	struct finding_memory memory;
	struct finding *findings; /* sorted, including suppressed ones */
	size_t n, size;
};

/* Selects the policy as for files of that name in the current folder. Returns
 * 0, or 2 after a message. */
int filter_open(struct filter *filter, struct options *options,
		const char *name);
/* Adds an empty text and copies the name. The address of a text is valid until
 * the next one is added. */
struct filter_text *filter_add(struct filter *filter, const char *name);
/* Adds standard input as a text. Returns 0, or 2 after a message. */
int filter_add_stdin(struct filter *filter, const char *name);
void filter_release(struct filter *filter);
/* Fixes the first text, with safe fixes only or all. Returns 0, or 2 after a
 * message. */
int filter_repair(struct filter *filter, bool unsafe);
/* Lints the current texts and sets findings. */
void filter_lint(struct filter *filter);
/* Returns the number of remaining findings at or above --fail-on. */
size_t filter_failures(const struct filter *filter);
/* Reports the findings, without the summary's timing. */
void filter_report(struct filter *filter, const struct report_format *format,
		   FILE *out);

#endif
