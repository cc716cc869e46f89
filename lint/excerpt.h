/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lines of a file with the places of a finding underlined:
 *
 *	20 |         - name: trainer
 *	   |                 ------- this container
 *	...
 *	23 |           requests: {nvidia.com/gpu: 4}
 *	   |           ^^^^^^^^
 *
 * Underlines are counted in terminal cells, so they survive tabs and wide
 * characters. Work per mark is bounded whatever the length of the line:
 * manifests may be one line of a megabyte.
 */
#ifndef LINT_EXCERPT_H
#define LINT_EXCERPT_H

#include "doc/source.h"
#include "glyph.h"
#include "report_common.h"

struct mark {
	uint32_t line;	     /* from 1 */
	uint32_t start, end; /* bytes in the source; cut to the line */
	bool primary;
	const char *text; /* shown behind the underline, may be "" */
};

struct excerpt {
	struct source *source;
	struct mark *marks; /* sorted here: by line, the primary one first */
	size_t n;
	unsigned gutter; /* digits of the largest line number */
	unsigned width;	 /* cells of the terminal, 0: unknown */
	bool color;
	enum severity severity;
};

unsigned decimal_digits(uint32_t n);
void excerpt_add(struct excerpt *excerpt, struct buf *out);

#endif
