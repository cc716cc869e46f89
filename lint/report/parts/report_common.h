/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that several report formats share: the place of a finding in words,
 * counts per rule, and text that must be stored until the end of the run.
 */
#ifndef LINT_REPORT_COMMON_H
#define LINT_REPORT_COMMON_H

#include "base/buf.h"
#include "lint/report/report.h"
#include "lint/term/paint.h"
#include "lint/text/counter.h"

/* Writes the buffer and empties it. */
void report_flush(FILE *out, struct buf *buf);

/* Returns the path to show for a related place; "" if it is in no file. */
const char *place_path(const struct report_file *file,
		       const struct place *place);
/* Drops a leading "./", for services that compare paths. */
const char *path_relative(const char *path);
/* Returns the text of the file, or NULL. It must not be shown: it is only for
 * computing positions, which need the original bytes. */
struct source *file_source(const struct report_file *file);
/* Returns the text of the file that may be shown, in which secret values are
 * masked. */
struct source *file_shown(const struct report_file *file);
/* Adds "PyTorchJob ml/llm"; nothing for a finding without an object. The caller
 * must escape the text. */
void finding_object(const struct finding *finding, struct buf *out);
/* Adds the object, followed by " › Worker › trainer". */
void finding_subject(const struct finding *finding, struct buf *out);
/*
 * True if finding i repeats the previous one at the same place. An anchored
 * template is checked once for each of its aliases; a format that does not show
 * the object reports it once.
 */
bool finding_repeats(const struct finding *findings, size_t i);
/* Adds a message, with text between backticks as code. add() escapes it. */
void add_message(struct buf *out, const char *text,
		 void (*add)(struct buf *out, const char *s, size_t len));
const char *suppressed_via_name(enum suppressed_via via);
/* Adds "1 error" or "2 errors". */
void add_count(struct buf *out, uint64_t n, const char *one, const char *many);

/* Numbers of findings by rule and severity, in the order of their first
 * occurrence. */
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
/* Sorts by number of findings, most first, then by name. */
void tally_sort(struct tally *tally);
void tally_release(struct tally *tally);

/* First member of the state of every format. */
struct report {
	FILE *out;
	struct report_options options;
	struct buf buf;	     /* not yet written */
	struct buf text;     /* temporary text of the format */
	struct tally tally;  /* counts of the format */
	struct counter seen; /* occurrences in the current file */
	uint64_t n;	     /* number of items that were written */
};

/*
 * Text that is stored for the end of the report; initially zero. A little stays
 * in memory, more is written to an unlinked temporary file, so that memory does
 * not grow with the number of findings.
 */
struct spool {
	struct buf buf;
	FILE *file;
};
/* Adds text, which is empty afterwards. */
void spool_add(struct spool *spool, struct buf *text);
/* Writes the stored text to out and frees the memory. */
void spool_finish(struct spool *spool, FILE *out);

#endif
