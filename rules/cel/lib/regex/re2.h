/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Translates regular expressions of Go's regexp/syntax (RE2) for PCRE2. RE2
 * does not support back-references, look-around and possessive repeats, and
 * limits repeat counts to 1,000. Groups of the result do not capture. Some
 * patterns that Go accepts are rejected: `\p{Letter}` and other long names of
 * categories, a surrogate, a pattern that takes more than 64 KiB, an option
 * such as `(?i)` between an atom and its repeat.
 */
#ifndef CEL_RE2_H
#define CEL_RE2_H

#include "rules/cel/lib/lib_internal.h"

/* Writes the PCRE2 pattern to *out. Returns false if Go rejects the pattern. */
bool cel_re2_translate(struct arena *arena, struct cel_text pattern,
		       struct buf *out);

/* --- re2_class.c: the parts of a pattern that match one character --------- */

struct re2 {
	struct arena *arena;
	struct cel_text text;
	size_t at;
	struct buf *out; /* PCRE2 pattern so far */
};

bool re2_is_alnum(unsigned c);
/* The functions move the cursor past their part. They return false if the text
 * is something else. */
bool re2_point(struct re2 *re, unsigned *c);
/* Reads an escaped character: `\n`, `\x41`, `\.`. */
bool re2_escape(struct re2 *re, unsigned *c);
bool re2_class_escape(struct re2 *re, bool in_class); /* reads `\d` or `\pL` */
bool re2_class(struct re2 *re);			      /* reads [...] */
void re2_literal(struct re2 *re, unsigned c);

#endif
