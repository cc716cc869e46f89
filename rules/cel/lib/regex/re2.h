/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regular expressions are those of Go's regexp/syntax (RE2), which has no
 * back-references, look-around or possessive repeats and counts repeats up to
 * 1,000. A pattern is read by those rules and translated to an equivalent one
 * for PCRE2; groups do not capture. Remaining differences are errors:
 * `\p{Letter}` and other long names of categories, a surrogate, a pattern that
 * takes more than 64 KiB, an option such as `(?i)` between an atom and its
 * repeat.
 */
#ifndef CEL_RE2_H
#define CEL_RE2_H

#include "rules/cel/lib/lib_internal.h"

/* Writes the PCRE2 pattern to *out; false if Go rejects the pattern. */
bool cel_re2_translate(struct arena *arena, struct cel_text pattern,
		       struct buf *out);

/* --- re2_class.c: the parts of a pattern that match one character --------- */

struct re2 {
	struct arena *arena;
	struct cel_text text;
	size_t at;
	struct buf *out; /* for PCRE2 */
};

bool re2_is_alnum(unsigned c);
/* The functions advance the cursor; false if the text is something else. */
bool re2_point(struct re2 *re, unsigned *c);
/* Reads `\n`, `\x41`, `\.` as a character. */
bool re2_escape(struct re2 *re, unsigned *c);
bool re2_class_escape(struct re2 *re, bool in_class); /* `\d`, `\pL` */
bool re2_class(struct re2 *re);			      /* [...] */
void re2_literal(struct re2 *re, unsigned c);

#endif
