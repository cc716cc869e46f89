/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Secret values, and their masks. They are recognized by the name of their
 * variable or key, or by their prefix. The rule that reports such values and
 * all code that shows text of a manifest use the same functions.
 */
#ifndef KUBE_SECRET_H
#define KUBE_SECRET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "doc/node.h"
#include "doc/source.h"

/* Names of variables in which programs expect tokens and passwords;
 * NULL-terminated. */
extern const char *const secret_names[];

/* Returns a table of the last letters of secret names, for callers that test
 * many names. */
const bool *secret_last_letters(void);
/* True if a variable of this name contains a secret. */
bool secret_is_name(const char *name, size_t len);
/* True if the value of that variable is secret. Placeholders and words for
 * "none" are not secret. */
bool secret_is(const char *name, const char *value);
/* Like the two functions above, for callers that mask values: also true for
 * webhook addresses, whose names and forms are weaker evidence (an alert
 * receiver in the cluster is not secret). */
bool secret_may_be_name(const char *name, size_t len);
bool secret_may_be(const char *name, const char *value);

/* Returns the number of bytes at the start of a value that identify its
 * provider ("hf_"), or 0. These bytes are not secret. */
size_t secret_prefix(const char *value, size_t len);
/*
 * Finds tokens by their form anywhere in a text, such as "hf_" followed by
 * enough letters. Calls found (may be NULL) for each. Returns true if there is
 * one.
 */
bool secret_tokens(const char *text, size_t len,
		   void (*found)(void *context, size_t at, size_t len),
		   void *context);
/*
 * Finds credentials by their context: passwords in URLs and data source names,
 * keys after `--api-key`, `Bearer` or `"password":`. Calls found and returns
 * like secret_tokens().
 */
bool secret_credentials(const char *text, size_t len,
			void (*found)(void *context, size_t at, size_t len),
			void *context);

/*
 * Masks secret values (kube/secret/secret.h) in text that is shown: reports,
 * diffs, responses. Text for the cluster or for the author's file is never
 * masked. A masked value is shown as four stars, after its known prefix if it
 * has one ("hf_****"). First all secret values of a text are collected,
 * whichever rules are on; then they are masked wherever they occur in the shown
 * text.
 */

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
