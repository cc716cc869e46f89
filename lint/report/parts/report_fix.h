/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A finding's own fix in formats that have a place for it. Offsets of edits
 * count from the start of the file, including the byte order mark.
 */
#ifndef LINT_REPORT_FIX_H
#define LINT_REPORT_FIX_H

#include "report_common.h"

/* Line (from 1) and column of a byte offset into the file. */
struct position fix_position(struct source *source, uint32_t offset);
/* Writes "fix":{"safe", "title", "patch", "edits"[, "refused"]} */
void fix_put_json(struct buf *out, const struct fix_result *repair);
/* Writes SARIF's "fixes" of a result; needs the file's text for its regions. */
void fix_put_sarif(struct buf *out, const char *path, struct source *source,
		   const struct fix_result *repair);
/*
 * Joins all edits into one replacement: text, appended to out, replaces the
 * bytes [*start, *end) of the file. Returns false if there is nothing to
 * replace.
 */
bool fix_cover(struct source *source, const struct fix_result *repair,
	       uint32_t *start, uint32_t *end, struct buf *out);
/* Writes the removed and added lines as a small diff: "- old" and "+ new", cut
 * to the terminal's width (0: unknown). */
void fix_add_lines(struct buf *out, struct source *source,
		   const struct fix_result *repair, unsigned indent,
		   unsigned width);

#endif
