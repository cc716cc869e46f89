/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Masks secret values (kube/secret/secret.h) in text that is shown: reports,
 * diffs, responses. Text for the cluster or for the author's file is never
 * masked. A masked value is its known prefix and four stars, "hf_****", or the
 * stars alone. All values of a text are collected first, whether any rule is on
 * or not; then they are masked wherever they occur in the shown text.
 */
#ifndef KUBE_MASK_H
#define KUBE_MASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "doc/node.h"
#include "doc/source.h"

/* Masked bytes in a text whose offsets must stay; no UTF-8 text contains this
 * byte. A run of them is shown as SECRET_STARS. */
#define SECRET_MASK_BYTE '\xfd'
#define SECRET_STARS	 "****"

struct secret_value {
	const char *text;
	size_t len;
	size_t shorter; /* 1 + index of a value that is its prefix, or 0 */
};

/* Bytes of a source that are a secret, or contain one in another form. */
struct secret_span {
	uint32_t start, end;
	bool block; /* a block scalar, its header included */
};

/* Zero-filled except for the arena, which holds all of it. */
struct secrets {
	struct arena *arena;
	struct secret_value *values;
	size_t n, size;
	bool starts[256]; /* first bytes of the values */
	struct secret_span *spans;
	size_t nspans, spans_size;
};

/* True if a file with this text could hold values that are recognized by name.
 * Checks only its underscores. */
bool secrets_possible(const char *text, size_t len);
/* True if it holds a value recognized by its form, or a text that looks masked
 * already. */
bool secrets_plain(const char *text, size_t len);

/* --- collecting ---------------------------------------------------------- */

/*
 * Collects the values of a document: values of variables, and of keys with the
 * name of a secret.
 */
void secrets_of_tree(struct secrets *secrets, const struct node *root);
/* Collects the values of any text, not only documents: NAME=value, NAME:
 * value, and `name: NAME` beside `value: value`. */
void secrets_of_text(struct secrets *secrets, const char *text, size_t len);
/* Adds one value, each line of which is masked. */
void secrets_add(struct secrets *secrets, const char *value, size_t len);
/* Prepares the search, after all values are collected. */
void secrets_finish(struct secrets *secrets);

/*
 * All of the above for a file's text. Returns the text with every value masked,
 * in any form, at the same positions. Returns NULL if there is nothing to mask.
 */
struct source *secrets_of_source(struct secrets *secrets,
				 const struct source *source);

/* --- masking ------------------------------------------------------------- */

/*
 * secrets_mask_in_place() keeps each byte in its place; secrets_mask() returns
 * the text as it is shown. The result is in the arena, or is text itself if it
 * holds no secret.
 */
const char *secrets_mask_in_place(const struct secrets *secrets,
				  struct arena *arena, const char *text,
				  size_t len);
const char *secrets_mask(const struct secrets *secrets, struct arena *arena,
			 const char *text);
/* Appends text masked in place as it is shown. */
void secrets_show(struct buf *out, const char *text, size_t len);
/* True if the text contains one of them. */
bool secrets_in(const struct secrets *secrets, const char *text, size_t len);
/* Returns the number of occurrences of the secrets. */
size_t secrets_count(const struct secrets *secrets, const char *text,
		     size_t len);

#endif
