/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of one file, and the conversion of byte offsets to lines and
 * columns. A source borrows text; the line table is built on first use and
 * lives in the arena given to source_init(). One thread uses a source at a
 * time.
 */
#ifndef DOC_SOURCE_H
#define DOC_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

struct source {
	const char *name; /* as the user wrote it; "-" for standard input */
	const char *text; /* UTF-8; not NUL-terminated */
	size_t len;
	bool transcoded; /* converted from UTF-16: offsets are not those of the
			    file */
	bool bytes_only; /* positions are line 1, column byte offset + 1 */
	/* bytes of the UTF-8 byte order mark before text, 0 or 3 */
	uint32_t bom;
	struct arena *arena;
	uint32_t *lines; /* offset of each line's first byte, or NULL */
	uint32_t nlines;
	/* The last position returned; a later one on the same line is counted
	 * from here. */
	uint32_t last_offset, last_line, last_column;
};

struct position {
	uint32_t line;	 /* from 1 */
	uint32_t column; /* from 1, in Unicode code points */
};

/*
 * Initializes a source. Byte order marks are removed (bom keeps their length)
 * and UTF-16 is decoded into the arena, as kubectl does. Offsets of nodes count
 * from text; add bom for offsets into the file.
 */
void source_init(struct source *source, struct arena *arena, const char *name,
		 const char *text, size_t len);
/* Returns line and column of an offset. Lines end at LF or CRLF; a lone CR does
 * not end a line, as for kubectl. */
struct position source_position(struct source *source, uint32_t offset);
/* Returns the bytes of line n (from 1) without its line end; *len is 0 past the
 * end. */
const char *source_line(struct source *source, uint32_t n, size_t *len);

struct node;
/* Returns the offset in the source of byte `offset` of a scalar's text
 * (node->str), for any style. */
uint32_t source_text_offset(const struct source *source,
			    const struct node *scalar, size_t offset);

#endif
