/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that several report formats share: the place of a finding in
 * words, counts per rule, fixes, the summary, and parts of SARIF.
 */
#ifndef LINT_REPORT_COMMON_H
#define LINT_REPORT_COMMON_H

#include "base/buf.h"
#include "lint/report/report.h"
#include "lint/term/log.h"
#include "lint/text/line_hash.h"

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

/*
 * Writes the fix of a single finding in formats that support fixes. Offsets of
 * edits count from the start of the file, including the byte order mark.
 */

/* Returns line (from 1) and column of a byte offset in the file. */
struct position fix_position(struct source *source, uint32_t offset);
/* Adds "fix":{"safe", "title", "patch", "edits"[, "refused"]}. */
void fix_put_json(struct buf *out, const struct fix_result *repair);
/* Adds the member "fixes" of a SARIF result; needs the file's text to compute
 * regions. */
void fix_put_sarif(struct buf *out, const char *path, struct source *source,
		   const struct fix_result *repair);
/*
 * Joins all edits into one replacement of the bytes [*start, *end) of the file
 * by a text, which is appended to out. Returns false if nothing is replaced.
 */
bool fix_cover(struct source *source, const struct fix_result *repair,
	       uint32_t *start, uint32_t *end, struct buf *out);
/* Adds the removed and added lines as a small diff: "- old" and "+ new", cut to
 * the width of the terminal (0: unknown). */
void fix_add_lines(struct buf *out, struct source *source,
		   const struct fix_result *repair, unsigned indent,
		   unsigned width);

/*
 * Writes the summary below a report for users: the number of findings of each
 * rule, and the inputs that were linted.
 */

/* Adds a table of rules and severities, sorted by the number of findings. Sorts
 * the tally. */
void statistics_add(struct tally *tally, struct buf *out);
/* Adds "Checked 14 objects in 6 files (...) — 3 errors; 9 GPUs requested". */
void summary_add_line(const struct report_summary *summary, struct buf *out);
/* Adds "3 errors, 1 warning" or "no findings". */
void summary_add_findings(const struct run_counts *counts, struct buf *out);
/* Adds "2 fixable with --fix, 1 more with --unsafe-fixes.", and the number in
 * rendered texts; adds nothing if there are none. */
void summary_add_fixable(const struct report_summary *summary, struct buf *out);
/*
 * Adds a line for each program that rendered roots, and one for each reason why
 * roots were not rendered.
 */
void summary_add_rendered(const struct report_summary *summary,
			  struct buf *out);
/* Adds the lines of summary_add_rendered(), lines for inputs that were checked
 * separately or in part, and a line for each reason why rules were skipped. */
void summary_add_not_run(const struct report_summary *summary, struct buf *out);

/*
 * Writes parts of a SARIF report that need no state: URIs, messages,
 * descriptions of rules, notifications about the run.
 */

/* Returns "error", "warning" or "note". */
const char *sarif_level(enum severity severity);
/* Returns "1.2.3-4-gabcdef" for "v1.2.3-4-gabcdef"; "0.0.0" if it is not a
 * version. */
const char *sarif_version(const char *version);
/* Adds a member whose value is an object with a text. */
void sarif_put_text(struct buf *out, const char *key, const char *text);
/* Adds artifactLocation: the path as a URI reference, with all characters as
 * %XX except "/" and unreserved ones. */
void sarif_put_artifact(struct buf *out, const char *path);
/* Adds the message, the help, and links to related places: "[a.yaml:3](1): used
 * here". */
void sarif_add_message(struct buf *out, const struct report_file *file,
		       const struct finding *finding);
/* Add complete objects. */
void sarif_put_rule(struct buf *out, const struct rule *rule);
void sarif_put_invocation(struct buf *out,
			  const struct report_summary *summary);

#endif
