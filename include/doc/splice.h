/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Edits of the author's file, and their unified diff. A text replaces the
 * bytes start..end, and all other bytes stay, including comments and style. If
 * the result is uncertain (aliases, merge keys, block scalars, tabs, unknown
 * values), the group of edits is rejected with a reason.
 *
 * Offsets count from source->text; add source->bom for offsets in the file.
 */
#ifndef DOC_SPLICE_H
#define DOC_SPLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "doc/edit.h"
#include "doc/load.h"

struct splice {
	uint32_t start, end;
	const char *text;
	size_t len;
};

/* Changes in the order of their offsets; they may touch but not overlap. */
struct splice_list {
	struct splice *items;
	size_t n, size;
};

/*
 * Appends the changes of one document. Groups that cannot be applied get the
 * outcome EDIT_REFUSED for good, so that edits_apply() returns the same tree as
 * reading the new text. Call this for the documents of a file in order.
 */
void edits_splice(struct edit_list *list, const struct doc *doc,
		  struct arena *arena, struct splice_list *splices);

/* Appends the text with all changes. */
void splices_apply(const char *text, size_t len,
		   const struct splice_list *splices, struct buf *out);

/* The expected content of a document of the new text. */
struct splice_expect {
	unsigned number; /* doc.number */
	const struct node *root;
};

/*
 * Reads the new text as a file and compares its documents: those in expect
 * (sorted by number) with their expected content, the others with the old text.
 * Returns -1 and sets err if anything else changed; the new text must then not
 * be written.
 */
int splices_check(const struct source *before, const struct buf *after,
		  const struct splice_expect *expect, size_t n,
		  struct err *err);

/*
 * Unified diff of two texts, as `patch -p1` and `git apply` take it.
 */

struct diff_text {
	const char *text;
	size_t len;
	const char *shown; /* bytes to show instead of text, or NULL */
};

/* Appends the diff; appends nothing if the texts are equal. */
void diff_unified(const char *name, const struct diff_text *old,
		  const struct diff_text *new, struct buf *out);

#endif
