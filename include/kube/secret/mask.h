/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Masks secret values (kube/secret/secret.h) in text that is shown: reports,
 * diffs, responses. Text for the cluster or for the author's file is never
 * masked. A masked value is shown as four stars, after its known prefix if it
 * has one ("hf_****"). First all secret values of a text are collected,
 * whichever rules are on; then they are masked wherever they occur in the shown
 * text.
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

/* Replaces each masked byte in a text whose offsets must stay; UTF-8 texts
 * never contain it. A run of these bytes is shown as SECRET_STARS. */
#define SECRET_MASK_BYTE '\xfd'
#define SECRET_STARS	 "****"

struct secret_value {
	const char *text;
	size_t len;
	/* 1 + index of the longest value that is a prefix of this one, or 0 */
	size_t shorter;
};

/* Bytes of a source that are a secret or contain it in another form. */
struct secret_span {
	uint32_t start, end;
	bool block; /* a block scalar with its header */
};

/* The secret values of a text and an index for their search. Initially zero
 * except for the arena, which contains everything. */
struct secrets {
	struct arena *arena;
	struct secret_value *values;
	size_t n, size;
	bool starts[256]; /* bytes with which some value begins */
	struct secret_span *spans;
	size_t nspans, spans_size;
};

/* True if a file with this text may contain values that are recognized by name:
 * it has the name of a secret, or an escape by which a name may be written. */
bool secrets_possible(const char *text, size_t len);
/* True if the text contains a value that is recognized by its form or its
 * context, or a byte that masks one. */
bool secrets_plain(const char *text, size_t len);

/* --- collecting ---------------------------------------------------------- */

/*
 * Collects the values of a document: those of variables, of keys with the name
 * of a secret, and those inside of strings.
 */
void secrets_of_tree(struct secrets *secrets, const struct node *root);
/* Collects the values in a text of any format: `NAME=value`, `NAME: value`, and
 * `name: NAME` next to `value: value`. */
void secrets_of_text(struct secrets *secrets, const char *text, size_t len);
/* Adds a value. Each of its lines is masked. */
void secrets_add(struct secrets *secrets, const char *value, size_t len);
/* Builds the index after all values are collected. */
void secrets_finish(struct secrets *secrets);

/*
 * Collects the values of a file's text and calls secrets_finish(). Returns the
 * text with every value masked, in any form, so that all offsets stay; NULL if
 * there is nothing to mask.
 */
struct source *secrets_of_source(struct secrets *secrets,
				 const struct source *source);

/* --- masking ------------------------------------------------------------- */

/*
 * secrets_mask_in_place() keeps each byte in its place; secrets_mask() returns
 * the text as it is shown. The result is allocated in the arena, or is text
 * itself if it contains no secret.
 */
const char *secrets_mask_in_place(const struct secrets *secrets,
				  struct arena *arena, const char *text,
				  size_t len);
const char *secrets_mask(const struct secrets *secrets, struct arena *arena,
			 const char *text);
/* Appends a text that was masked in place, in the form that is shown. */
void secrets_show(struct buf *out, const char *text, size_t len);
/* True if the text contains one of the secrets. */
bool secrets_in(const struct secrets *secrets, const char *text, size_t len);
/* Returns how often secrets occur in the text. */
size_t secrets_count(const struct secrets *secrets, const char *text,
		     size_t len);

#endif
