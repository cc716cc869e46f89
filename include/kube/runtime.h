/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runtimes: objects with templates that other objects name and complete with
 * more fields. One is looked for in the file of the object that names it, then
 * in the other input files, then in the cluster state.
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
	/* The name in the object, if the runtime is not in its file; then the
	 * runtime's own, or NULL and NO_FILE: it is in the cluster. */
	const struct node *ref;
	struct source *source;
	uint32_t file;
	struct runtime *next;
};

/* True if the text may hold runtimes; and objects that name one. */
bool runtimes_may_be_in(const char *text, size_t len);
bool runtimes_may_be_used_in(const char *text, size_t len);
/* Returns the list with the runtimes of a document in front. The document's
 * arena must outlive it. */
struct runtime *runtimes_add(struct runtime *list, struct arena *arena,
			     const struct doc *doc);
/* True if the object may name this one, which is of its group, by these. */
bool runtime_is(const struct runtime *one, const struct object *object,
		const char *kind, const char *name);
/* Returns the runtime of this kind whose name is at `ref` in the object, or
 * NULL. The object keeps the name if it is not in its file. */
const struct runtime *runtime_find(const struct kube_config *config,
				   struct object *object, const char *kind,
				   const struct node *ref);

/* Returns the runtime that holds the node, or NULL. If several objects name it,
 * the one for this object. */
const struct runtime *runtime_around(const struct runtime *list,
				     const struct object *object,
				     const struct node *node);

#endif
