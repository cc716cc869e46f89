/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes text of a manifest safe for a terminal, a log, a URI or XML. Names,
 * messages and excerpts are the author's bytes: a control character in them
 * could move the cursor, forge a line or hide text, so each is replaced by a
 * visible character, and so are direction overrides, invisible characters and
 * bytes that are not UTF-8. The result never has more than one line.
 */
#ifndef LINT_ESCAPE_H
#define LINT_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct escape {
	/* bytes to print, in the text itself or in stand_in */
	const char *text;
	size_t len;
	size_t used;	/* number of bytes of the text that they replace */
	unsigned width; /* number of terminal cells */
	char stand_in[4];
};

/* Sets out for the code point at s (n > 0 bytes). out->text is a pointer into s
 * or into out. */
void escape_read(struct escape *out, const char *s, size_t n);

/* Appends text as one line, in which characters that a terminal would interpret
 * are replaced. */
void escape_add(struct buf *out, const char *s, size_t len);
void escape_adds(struct buf *out, const char *s);

/* Appends a part of a URI. Characters that are neither unreserved nor in `kept`
 * become %XX. */
void escape_uri(struct buf *out, const char *s, const char *kept);

/* Returns the number of terminal cells of a code point: 0, 1 or 2. */
unsigned code_point_width(uint32_t c);

/*
 * Writes text for XML: markup is escaped, and characters that XML 1.0 cannot
 * contain (control characters, noncharacters, bytes that are not UTF-8) are
 * replaced, as on a terminal. The result can be used in attributes in double
 * quotes and for element text.
 */

void xml_add(struct buf *out, const char *s);
void xml_add_n(struct buf *out, const char *s, size_t len);
/* Adds ` name="value"`. */
void xml_add_attribute(struct buf *out, const char *name, const char *value);

#endif
