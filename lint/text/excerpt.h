/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the lines of a file with the places of a finding underlined:
 *
 *	20 |         - name: trainer
 *	   |                 ------- this container
 *	...
 *	23 |           requests: {nvidia.com/gpu: 4}
 *	   |           ^^^^^^^^
 *
 * Underlines are counted in terminal cells, so that tabs and wide characters do
 * not shift them. The work for a mark does not depend on the length of the
 * line, because a manifest may be one line of a megabyte.
 */
#ifndef LINT_EXCERPT_H
#define LINT_EXCERPT_H

#include "doc/source.h"
#include "lint/report/parts/report_common.h"
#include "lint/term/escape.h"

struct mark {
	uint32_t line; /* from 1 */
	/* bytes in the source; cut to the end of the line */
	uint32_t start, end;
	bool primary;
	const char *text; /* text after the underline; may be "" */
};

struct excerpt {
	struct source *source;
	struct mark *marks; /* sorted by line, the primary mark first */
	size_t n;
	unsigned gutter; /* number of digits of the largest line number */
	unsigned width;	 /* cells of the terminal (0: unknown) */
	bool color;
	enum severity severity;
};

/* A single line, without its line end. */
struct excerpt_text {
	const char *s;
	size_t len;
	uint32_t at;	 /* offset of a byte that must be visible */
	unsigned width;	 /* cells of the terminal (0: unknown) */
	unsigned margin; /* number of these cells before the text */
};

unsigned decimal_digits(uint32_t n);
void excerpt_add(struct excerpt *excerpt, struct buf *out);
/* Adds the line, cut to the width like a line of an excerpt, and a line end. */
void excerpt_add_text(const struct excerpt_text *text, struct buf *out);

#endif
