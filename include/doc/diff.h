/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unified diff of two texts, as `patch -p1` and `git apply` take it.
 */
#ifndef DOC_DIFF_H
#define DOC_DIFF_H

#include <stddef.h>

#include "base/buf.h"

struct diff_text {
	const char *text;
	size_t len;
	const char *shown; /* bytes to show instead of text, or NULL */
};

/* Appends the diff; appends nothing if the texts are equal. */
void diff_unified(const char *name, const struct diff_text *old,
		  const struct diff_text *new, struct buf *out);

#endif
