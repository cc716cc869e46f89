/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON Patch (RFC 6902) on node trees: the document is not changed, the
 * result is a tree of its own. All operations are done, or none.
 */
#ifndef DOC_PATCH_H
#define DOC_PATCH_H

#include "base/arena.h"
#include "base/err.h"
#include "doc/node.h"

/*
 * The document after the patch (a list of operations), in the arena; NULL
 * and err when the patch is malformed or does not apply. Copies that add up
 * to very many values, or nest very deep, are refused.
 */
struct node *patch_apply(struct arena *arena, const struct node *document,
			 const struct node *patch, struct err *err);

#endif
