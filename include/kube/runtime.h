/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runtimes: objects with templates that other objects name and complete with
 * more fields. Only runtimes of the same file are known, as with claims.
 */
#ifndef KUBE_RUNTIME_H
#define KUBE_RUNTIME_H

#include "doc/load.h"
#include "kube/object.h"

struct runtime {
	const char *api_version, *kind, *name;
	const char *namespace; /* NULL: not said */
	const struct node *root;
	unsigned document; /* its number in the file */
	struct runtime *next;
};

/* True if the text may hold runtimes, and objects that name one. */
bool runtimes_may_be_in(const char *text, size_t len);
/* Returns the list with the runtime of a document, if it is one, in front. The
 * document's arena must outlive it. */
struct runtime *runtimes_add(struct runtime *list, struct arena *arena,
			     const struct doc *doc);
/* Returns the one of the object's group that the object may name, or NULL. */
const struct runtime *runtime_find(const struct runtime *list,
				   const struct object *object,
				   const char *kind, const char *name);

/* Returns the runtime that holds the node, or NULL. */
const struct runtime *runtime_around(const struct runtime *list,
				     const struct node *node);

#endif
