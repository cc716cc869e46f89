/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regular expressions are those of Go's regexp/syntax (RE2), which has no
 * back-references, look-around or possessive repeats and counts repeats up to
 * 1,000. A pattern is read by those rules and written for PCRE2, where both
 * mean the same; groups do not capture. What differs still is an error:
 * `\p{Letter}` and other long names of categories, a surrogate, and an option
 * such as `(?i)` between an atom and its repeat.
 */
#ifndef CEL_RE2_H
#define CEL_RE2_H

#include "base/buf.h"
#include "cel/value.h"

/* NULL and the PCRE2 pattern in *out, or Go's message. */
const char *cel_re2_translate(struct arena *arena, struct cel_text pattern,
			      struct buf *out);

#endif
