/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regular expressions are those of Go's regexp/syntax (RE2), which has no
 * back-references, look-around or possessive repeats and counts repeats up to
 * 1,000. A pattern is read by those rules and written for PCRE2, where both
 * mean the same; groups do not capture. What differs still is an error:
 * `\p{Letter}` and other long names of categories, a surrogate, a pattern that
 * takes more than 64 KiB, an option such as `(?i)` between an atom and its
 * repeat.
 */
#ifndef CEL_RE2_H
#define CEL_RE2_H

#include "rules/cel/lib/lib_internal.h"

/* NULL and the PCRE2 pattern in *out, or Go's message. */
const char *cel_re2_translate(struct arena *arena, struct cel_text pattern,
			      struct buf *out);

/* --- re2_class.c: the parts of a pattern that stand for one character ------
 */

struct re2 {
	struct arena *arena;
	struct cel_text text;
	size_t at;
	struct buf *out; /* for PCRE2 */
};

/* Go's message: what is wrong, and from where to where. */
const char *re2_error(const struct re2 *re, const char *what, size_t start,
		      size_t end);
bool re2_is_alnum(unsigned c);
/* The functions advance the cursor, and return what is wrong or NULL. */
const char *re2_point(struct re2 *re, unsigned *c);
/* `\n`, `\x41`, `\.`: which character it is. */
const char *re2_escape(struct re2 *re, unsigned *c);
/* `\d`, `\pL`: sets *found where there is one. */
const char *re2_class_escape(struct re2 *re, bool in_class, bool *found);
const char *re2_class(struct re2 *re); /* [...] */
void re2_literal(struct re2 *re, unsigned c);

#endif
