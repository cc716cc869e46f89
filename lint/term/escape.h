/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text of the manifest on its way to a terminal or a log. Names, messages and
 * excerpts are the author's bytes: a control character among them could move
 * the cursor, forge a line or hide text, so each is shown by a visible
 * stand-in, and so are direction overrides, invisible characters and bytes that
 * are not UTF-8. Nothing printed through here spans more than one line.
 */
#ifndef LINT_ESCAPE_H
#define LINT_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct escape {
	const char *text; /* bytes to print, in the text or in stand_in */
	size_t len;
	size_t used;	/* bytes of the text that it replaces */
	unsigned width; /* terminal cells */
	char stand_in[4];
};

/* The code point at s (n > 0 bytes). Fills out, as it may point into it. */
void escape_read(struct escape *out, const char *s, size_t n);

/* Append text on one line, with stand-ins for everything that a terminal would
 * interpret. */
void escape_add(struct buf *out, const char *s, size_t len);
void escape_adds(struct buf *out, const char *s);

/* As part of a URI: in %XX what is neither unreserved there nor kept. */
void escape_uri(struct buf *out, const char *s, const char *kept);

/* Terminal cells of one code point: 0, 1 or 2. */
unsigned code_point_width(uint32_t c);

#endif
