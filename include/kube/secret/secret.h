/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Secret values: recognized by the name of their variable or key, or by their
 * prefix. The rule that reports such values and all code that shows text of a
 * manifest (kube/secret/mask.h) use the same functions.
 */
#ifndef KUBE_SECRET_H
#define KUBE_SECRET_H

#include <stdbool.h>
#include <stddef.h>

/* Names of tokens and passwords that programs read; ends in NULL. */
extern const char *const secret_names[];

/* The last letters of secrets' names, for callers that test many names. */
const bool *secret_last_letters(void);
/* True if a variable of this name holds a secret. */
bool secret_is_name(const char *name, size_t len);
/* True if the value of that variable is secret. Placeholders and words for
 * "none" are not. */
bool secret_is(const char *name, const char *value);
/* Like the two above, for callers that hide values: also true for web hooks,
 * whose name and address prove less (an alert's receiver in the cluster is not
 * secret). */
bool secret_may_be_name(const char *name, size_t len);
bool secret_may_be(const char *name, const char *value);

/* Number of bytes at the start of a value that identify its provider ("hf_"),
 * or 0. They are not secret. */
size_t secret_prefix(const char *value, size_t len);
/*
 * Tokens recognized by their form, anywhere in a text: "hf_" and enough letters
 * after it. Calls found (may be NULL) for each. Returns whether there is a
 * token.
 */
bool secret_tokens(const char *text, size_t len,
		   void (*found)(void *context, size_t at, size_t len),
		   void *context);
/*
 * Credentials recognized by their surroundings: passwords of URLs and data
 * source names, keys after `--api-key`, `Bearer` or `"password":`. found and
 * the result are as above.
 */
bool secret_credentials(const char *text, size_t len,
			void (*found)(void *context, size_t at, size_t len),
			void *context);

#endif
