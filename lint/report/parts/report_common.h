/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts that several report formats share: the location of a finding in words,
 * counts per rule, and text that must wait until the end of the run.
 */
#ifndef LINT_REPORT_COMMON_H
#define LINT_REPORT_COMMON_H

#include "base/buf.h"
#include "lint/report/report.h"
#include "lint/term/paint.h"
#include "lint/text/counter.h"

/* Write the buffer and empty it. */
void report_flush(FILE *out, struct buf *buf);

/* The path shown for a related place, "" when it is in no file. */
const char *place_path(const struct report_file *file,
		       const struct place *place);
/* Without a leading "./", as services that compare paths want it. */
const char *path_relative(const char *path);
/* The file's text, or NULL: for places, which need its own bytes. */
struct source *file_source(const struct report_file *file);
/* Returns the text that may be shown: secret values are masked. */
struct source *file_shown(const struct report_file *file);
/* "PyTorchJob ml/llm", then what it holds; "" for a finding on no object.
 * Raw text: the caller escapes it. */
void finding_object(const struct finding *finding, struct buf *out);
/* The object, then " › Worker › trainer". */
void finding_subject(const struct finding *finding, struct buf *out);
/*
 * True if finding i repeats the previous one at the same place. An anchored
 * template is checked once for each of its aliases; a format that shows no
 * object reports it once.
 */
bool finding_repeats(const struct finding *findings, size_t i);
/* A message, in which `names` become code where backticks pair up; escaped by
 * add. */
void add_message(struct buf *out, const char *text,
		 void (*add)(struct buf *out, const char *s, size_t len));
const char *suppressed_via_name(enum suppressed_via via);
/* "1 error", "2 errors". */
void add_count(struct buf *out, uint64_t n, const char *one, const char *many);

/* Findings by rule and severity, in the order in which they came up. */
struct tally {
	struct tally_rule {
		const struct rule *rule;
		enum severity severity;
		uint64_t count;
	} * items;
	size_t n, size;
};
/* Counts one; returns the item's index. */
size_t tally_add(struct tally *tally, const struct rule *rule,
		 enum severity severity);
/* Most findings first, then by name. */
void tally_sort(struct tally *tally);
void tally_release(struct tally *tally);

/* The common head of each format's state. */
struct report {
	FILE *out;
	struct report_options options;
	struct buf buf;	     /* not yet written */
	struct buf text;     /* for the format to reset and fill */
	struct tally tally;  /* likewise */
	struct counter seen; /* likewise, of the current file */
	uint64_t n;	     /* likewise: items that were written */
};

/*
 * Text kept for the end of the report, all zero at first. A little stays in
 * memory, more goes to an unlinked temporary file, so that memory does not grow
 * with findings.
 */
struct spool {
	struct buf buf;
	FILE *file;
};
/* Take all of text, leaving it empty. */
void spool_add(struct spool *spool, struct buf *text);
/* Write everything to out and give the spool's memory back. */
void spool_finish(struct spool *spool, FILE *out);

#endif
