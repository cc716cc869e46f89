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

#endif
