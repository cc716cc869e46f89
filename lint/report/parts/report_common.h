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

/* Writes the buffer and empties it. */
void report_flush(FILE *out, struct buf *buf);

/* The path shown for a related place; "" if it is in no file. */
const char *place_path(const struct report_file *file,
		       const struct place *place);
/* Drops a leading "./", for services that compare paths. */
const char *path_relative(const char *path);
/* The file's text, or NULL. For places, which need its original bytes. */
struct source *file_source(const struct report_file *file);
/* Returns the text that may be shown: secret values are masked. */
struct source *file_shown(const struct report_file *file);
/* Writes "PyTorchJob ml/llm", then the place in it; "" for a finding without an
 * object. Raw text: the caller escapes it. */
void finding_object(const struct finding *finding, struct buf *out);
/* Writes the object, then " › Worker › trainer". */
void finding_subject(const struct finding *finding, struct buf *out);
/*
 * True if finding i repeats the previous one at the same place. An anchored
 * template is checked once for each of its aliases; a format that shows no
 * object reports it once.
 */
bool finding_repeats(const struct finding *findings, size_t i);
/* Adds a message; text between paired backticks becomes code. add escapes
 * it. */
void add_message(struct buf *out, const char *text,
		 void (*add)(struct buf *out, const char *s, size_t len));
const char *suppressed_via_name(enum suppressed_via via);
/* Adds "1 error", "2 errors". */
void add_count(struct buf *out, uint64_t n, const char *one, const char *many);

/* Findings by rule and severity, in the order of their first use. */
struct tally {
	struct tally_rule {
		const struct rule *rule;
		enum severity severity;
		uint64_t count;
	} * items;
	size_t n, size;
};
/* Counts a finding; returns the item's index. */
size_t tally_add(struct tally *tally, const struct rule *rule,
		 enum severity severity);
/* Counts the finding and those that are folded into it. */
void tally_finding(struct tally *tally, const struct finding *finding);
/* Sorts by number of findings, then by name. */
void tally_sort(struct tally *tally);
void tally_release(struct tally *tally);

/* The common first member of each format's state. */
struct report {
	FILE *out;
	struct report_options options;
	struct buf buf;	     /* not yet written */
	struct buf text;     /* reset and filled by the format */
	struct tally tally;  /* likewise */
	struct counter seen; /* the same, for the current file */
	uint64_t n;	     /* the same: number of written items */
};

/*
 * Text stored for the end of the report, all zero at first. A little stays in
 * memory, more goes to an unlinked temporary file, so that memory does not grow
 * with findings.
 */
struct spool {
	struct buf buf;
	FILE *file;
};
/* Takes all of text, which is left empty. */
void spool_add(struct spool *spool, struct buf *text);
/* Writes everything to out and frees the spool's memory. */
void spool_finish(struct spool *spool, FILE *out);

#endif
