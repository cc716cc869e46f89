/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Report formats. A format gets the files in order, each with its findings
 * (sorted), then the summary. It writes to out; the caller checks out for
 * errors. Findings and files are only valid during the call.
 */
#ifndef LINT_REPORT_H
#define LINT_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/buf.h"
#include "engine/finding.h"
#include "engine/run.h"

struct report_file {
	uint32_t index;
	const char *path; /* as shown to the user */
	/*
	 * The file's text, for excerpts and hashes, read on demand (may be
	 * called several times; NULL if the file is gone). Works for related
	 * places in other files too.
	 */
	struct source *(*source)(void *context, uint32_t file);
	const char *(*path_of)(void *context, uint32_t file);
	void *context;
	/* The text with secret values masked; NULL if it contains none. All
	 * code that shows lines uses this one. */
	struct source *masked;
};

struct skipped_file {
	const char *path, *reason;
};

/* A kustomization or a chart that a program builds. */
struct report_rendered {
	const char *source;	    /* its file, as shown */
	const char *one, *many;	    /* "kustomization", "kustomizations" */
	const char *tool, *version; /* program that built it */
	const char *reason; /* why its files are checked instead; NULL if it was
			       built */
	const char *command; /* command that builds it, shown with the reason */
};

struct report_summary {
	uint64_t files; /* linted */
	const struct skipped_file *skipped;
	size_t nskipped;
	uint64_t ignored; /* manifests excluded by .gitignore */
	uint64_t foreign; /* files without Kubernetes objects */
	/* Folders that are checked separately, because each contains the same
	 * object. */
	const char *const *apart;
	size_t napart;
	const struct report_rendered *rendered;
	size_t nrendered;
	struct run_counts counts;
	const struct not_run *not_run;
	size_t nnot_run;
	double seconds;
	bool failed; /* an input could not be read (exit 2) */
	/* Demand against quotas as a section of a page; NULL: unknown. */
	void (*quotas)(void *context, struct buf *out);
	void *context; /* of quotas() */
};

struct report_options {
	bool color;	/* for full, concise */
	unsigned width; /* terminal columns, 0: unknown */
	bool statistics, quiet;
	bool show_all;	     /* for full: show all findings, including infos */
	const char *fail_on; /* for finding_fails() */
	bool github;	     /* the report probably goes to GitHub */
	const struct rule_set *rules;
	const char *version;
};

struct report_format {
	const char *name, *help;
	/* Size of its state, which begins with a struct report
	 * (report_common.h). 0: the caller owns the state and does not call
	 * report_begin(). */
	size_t size;
	bool whole; /* it gets the findings of a file unfolded (run/fold.h) */
	const char *head,
		*tail; /* written before and after everything else, or NULL */
	/* NULL if there is nothing to do. */
	void (*begin)(void *state); /* state is zero except for its report */
	void (*file)(void *state, const struct report_file *file,
		     const struct finding *findings, size_t n);
	void (*end)(void *state, const struct report_summary *summary);
};

/* Makes the format's state. The caller keeps out. */
void *report_begin(const struct report_format *format, FILE *out,
		   const struct report_options *options);
/* Frees the state, if report_begin() made it. */
void report_end(const struct report_format *format, void *state,
		const struct report_summary *summary);

/* True if the finding counts as a failure. fail_on is the value of --fail-on;
 * NULL: its default. No other function decides this. */
bool finding_fails(const struct finding *finding, const char *fail_on);

/* Suppressed findings are passed as well (see finding.suppressed); formats
 * without a place for them omit them. Hidden ones are never passed. */
extern const struct report_format report_full, report_concise, report_json,
	report_jsonl, report_sarif, report_junit, report_github, report_gitlab,
	report_rdjson, report_markdown, report_html, report_openreports;

/* All formats, sorted by name. */
extern const struct report_format *const report_formats[];
extern const size_t report_formats_count;
const struct report_format *report_format_find(const char *name);

#endif
