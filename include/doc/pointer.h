/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON Pointer (RFC 6901): "" is the whole document, "/a/0/b~1c" steps
 * through the map key "a", the first list item and the map key "b/c".
 */
#ifndef DOC_POINTER_H
#define DOC_POINTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "doc/node.h"

/* One step, unescaped; NUL-terminated (keys may hold NUL bytes: mind len). */
struct pointer_token {
	const char *text;
	size_t len;
};

struct pointer {
	struct pointer_token *tokens;
	size_t n;
};

/* Tokens live in the arena. */
int pointer_parse(struct arena *arena, const char *text, size_t len,
		  struct pointer *pointer, struct err *err);
/* A list index: digits without leading zeros, no sign. */
bool pointer_index(const struct pointer_token *token, uint32_t *index);
/* One step down, NULL where there is nothing. */
const struct node *pointer_step(const struct node *node,
				const struct pointer_token *token);
/* The value that all tokens lead to, or NULL. */
const struct node *pointer_resolve(const struct node *root,
				   const struct pointer *pointer);
/* Append "/" and the key, escaped. */
void pointer_add(struct buf *out, const char *key, size_t len);

#endif
