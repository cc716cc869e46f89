/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a secret value is: told by the name of the variable or key that holds
 * it, or by how it begins. One answer for the rule that reports such values
 * and for all that shows text of a manifest (kube/mask.h).
 */
#ifndef KUBE_SECRET_H
#define KUBE_SECRET_H

#include <stdbool.h>
#include <stddef.h>

/* The names of tokens that programs for GPUs read; ends in NULL. */
extern const char *const secret_names[];

/* Does a variable of this name hold a secret? */
bool secret_is_name(const char *name, size_t len);
/* Is the value of that variable one that nobody may see? Placeholders and
 * words that stand for "none" are not. */
bool secret_is(const char *name, const char *value);

/* Bytes at the start of a value that say whose it is ("hf_"), or 0. They are
 * no secret. */
size_t secret_prefix(const char *value, size_t len);
/*
 * Tokens that are such by their own look, wherever they stand in a text: "hf_"
 * and enough letters behind it. found is told of each, or NULL: whether there
 * is one is all that is asked. Returns that.
 */
bool secret_tokens(const char *text, size_t len,
		   void (*found)(void *context, size_t at, size_t len),
		   void *context);

#endif
