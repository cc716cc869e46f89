/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reports of a run: the interface of a format, masked texts, and the
 * outputs of --format.
 */
#ifndef LINT_REPORT_H
#define LINT_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/replace.h"
#include "engine/finding.h"
#include "engine/run.h"
#include "lint/options/options.h"

/*
 * Masks secret values in a file's text and findings before they are shown in
 * reports, diffs and results. All such output uses these functions.
 */

/* The text of a file that may be shown; lives in the arena. */
struct masked {
	struct secrets secrets;
	/* text with secrets masked; NULL if it contains none */
	struct source *source;
	bool any; /* findings may contain secrets */
};

/* source is NULL for a removed file, whose lines are not shown. */
void masked_make(struct masked *masked, struct arena *arena,
		 const struct source *source);
void masked_findings(const struct masked *masked, struct finding *findings,
		     size_t n);

/*
 * Interface of report formats. A format gets the files in order, each with its
 * findings (sorted), then the summary. It writes to out, and the caller checks
 * out for errors. Findings and files are valid only during the call.
 */

struct report_file {
	uint32_t index;
	const char *path; /* path as shown to the user */
	/*
	 * Reads the text of a file for excerpts and hashes, also for related
	 * places in other files. May be called several times; returns NULL if
	 * the file is gone.
	 */
	struct source *(*source)(void *context, uint32_t file);
	const char *(*path_of)(void *context, uint32_t file);
	void *context;
	/* Text with secret values masked; NULL if it contains none. All code
	 * that shows lines uses this text. */
	struct source *masked;
};

struct skipped_file {
	const char *path, *reason;
};

/* A kustomization or a chart that was built, or could not be built. */
struct report_rendered {
	const char *source;	    /* path of its file, as shown */
	const char *one, *many;	    /* "kustomization", "kustomizations" */
	const char *tool, *version; /* program that built it */
	/* reason why its files are checked instead; NULL if it was built */
	const char *reason;
	/* command that builds it, which is shown with the reason */
	const char *command;
};

struct report_summary {
	uint64_t files; /* number of linted files */
	const struct skipped_file *skipped;
	size_t nskipped;
	uint64_t ignored; /* number of manifests excluded by .gitignore */
	uint64_t foreign; /* number of files without Kubernetes objects */
	/* Folders that are checked as separate sets, because they contain the
	 * same object. */
	const char *const *apart;
	size_t napart;
	const struct report_rendered *rendered;
	size_t nrendered;
	struct run_counts counts;
	const struct not_run *not_run;
	size_t nnot_run;
	double seconds;
	bool failed; /* an input could not be read (exit status 2) */
	/* Writes the comparison with quotas as a section of a page; NULL if
	 * unknown. */
	void (*quotas)(void *context, struct buf *out);
	void *context; /* context of quotas() */
};

struct report_options {
	bool color;	/* for the formats full and concise */
	unsigned width; /* columns of the terminal, 0: unknown */
	bool statistics, quiet;
	bool show_all;	     /* for full: show all findings, including infos */
	const char *fail_on; /* for finding_fails() */
	bool github;	     /* the report will probably be read by GitHub */
	const struct rule_set *rules;
	const char *version;
};

struct report_format {
	const char *name, *help;
	/* Size of the state, which begins with a struct report
	 * (report_common.h). 0: the caller has the state and does not call
	 * report_begin(). */
	size_t size;
	/* the format gets the findings of a file unfolded (run/fold.c) */
	bool whole;
	const char *head,
		*tail; /* text before and after everything else, or NULL */
	/* Each function may be NULL. */
	void (*begin)(void *state); /* state is zero except for struct report */
	void (*file)(void *state, const struct report_file *file,
		     const struct finding *findings, size_t n);
	void (*end)(void *state, const struct report_summary *summary);
};

/* Creates the state of the format. out must outlive it. */
void *report_begin(const struct report_format *format, FILE *out,
		   const struct report_options *options);
/* Ends the report, and frees the state if report_begin() created it. */
void report_end(const struct report_format *format, void *state,
		const struct report_summary *summary);

/* True if the finding counts as a failure. fail_on is the value of
 * --fail-on (NULL: its default). Every decision about this uses this
 * function. */
bool finding_fails(const struct finding *finding, const char *fail_on);

/* Formats also get suppressed findings (see finding.suppressed), and omit them
 * if they cannot show them as suppressed. They never get hidden findings. */
extern const struct report_format report_full, report_concise, report_json,
	report_jsonl, report_sarif, report_junit, report_github, report_gitlab,
	report_rdjson, report_markdown, report_html, report_openreports;

/* All formats, sorted by name. */
extern const struct report_format *const report_formats[];
extern const size_t report_formats_count;
const struct report_format *report_format_find(const char *name);

/*
 * The reports of a run: every --format FMT[:FILE] with its stream. A report
 * file gets its name only after it is complete.
 */

struct output {
	const struct report_format *format;
	const char *path; /* NULL: standard output */
	struct replace file;
	FILE *out;
	struct report_options options;
	void *state;
	int error; /* errno of the first failed write */
};

struct outputs {
	struct output *items;
	size_t n, size;
	bool diff;   /* standard output contains the diff */
	bool failed; /* something could not be written, which was reported */
};

/* Reads the values of --format and prepares their outputs. Returns 0, or 2
 * after a message about an invalid value. */
int outputs_parse(struct outputs *outputs, struct options *options);
void outputs_begin(struct outputs *outputs, const struct options *options,
		   const struct rule_set *rules);
/* Passes the findings of a file to the formats that want them folded
 * (run/fold.c), or to all others. */
void outputs_file(struct outputs *outputs, const struct report_file *file,
		  const struct finding *findings, size_t n, bool folded);
void outputs_end(struct outputs *outputs, const struct report_summary *summary);
/* True if a report lists the rendered roots and their renderers. */
bool outputs_show_rendered(const struct outputs *outputs);
/* True if a report goes to standard output. */
bool outputs_use_stdout(const struct outputs *outputs);
void outputs_release(struct outputs *outputs);

#endif
