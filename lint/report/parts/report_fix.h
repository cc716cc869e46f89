/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the fix of a single finding in formats that support fixes. Offsets of
 * edits count from the start of the file, including the byte order mark.
 */
#ifndef LINT_REPORT_FIX_H
#define LINT_REPORT_FIX_H

#include "report_common.h"

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

#endif
