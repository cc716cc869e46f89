/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reports of a run: every --format FMT[:FILE] with its stream. A report
 * file gets its name only after it is complete.
 */
#ifndef LINT_OUTPUT_H
#define LINT_OUTPUT_H

#include "base/replace.h"
#include "lint/options/options.h"
#include "report.h"

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
 * (run/fold.h), or to all others. */
void outputs_file(struct outputs *outputs, const struct report_file *file,
		  const struct finding *findings, size_t n, bool folded);
void outputs_end(struct outputs *outputs, const struct report_summary *summary);
/* True if a report lists the rendered roots and their renderers. */
bool outputs_show_rendered(const struct outputs *outputs);
/* True if a report goes to standard output. */
bool outputs_use_stdout(const struct outputs *outputs);
void outputs_release(struct outputs *outputs);

#endif
