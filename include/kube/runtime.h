/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runtimes: objects with pod templates, to which other objects refer and add
 * fields. A runtime is looked up in the file of the object that refers to it,
 * then in the other input files, then in the snapshot.
 */
#ifndef KUBE_RUNTIME_H
#define KUBE_RUNTIME_H

#include "doc/load.h"
#include "kube/object.h"

struct runtime {
	const char *api_version, *kind, *name;
	const char *namespace; /* or NULL */
	const struct node *root;
	unsigned document; /* number of its document in the file */
	uint32_t file;	   /* NO_FILE if it is in the cluster */
	/* NULL if the runtime is in the file of the object that refers to it;
	 * else the name in that object, and source is the runtime's file. */
	const struct node *ref;
	struct source *source;
	struct runtime *next;
};

/* Lists of runtimes by the hash of their name; later ones come first. */
struct runtime_table {
	struct runtime *lists[256];
};

/* True if the text may contain runtimes (may_be_in), and objects of a kind that
 * refers to them as well (may_be_used_in). */
bool runtimes_may_be_in(const char *text, size_t len);
bool runtimes_may_be_used_in(const char *text, size_t len);
/* Adds the runtimes of a document of the file. The document's arena must
 * outlive the table. */
void runtimes_add(struct runtime_table *table, struct arena *arena,
		  const struct doc *doc, uint32_t file);
/* Returns the list that has all runtimes of this name, and others. */
struct runtime *runtimes_named(const struct runtime_table *table,
			       const char *name);
/* True if the object may refer to this runtime by the kind and name; the
 * runtime must be in the object's API group. */
bool runtime_is(const struct runtime *one, const struct object *object,
		const char *kind, const char *name);
/* Returns the runtime of this kind whose name is at `ref` in the object, or
 * NULL. The object remembers it. */
struct pod_builder;
const struct runtime *runtime_find(struct pod_builder *builder,
				   const char *kind, const struct node *ref);
/* A runtime to which an object refers. */
struct runtime_use {
	const struct runtime *runtime;
	const struct runtime_use *next;
};
/* Returns the object's runtime that contains the node, or NULL. */
const struct runtime *object_runtime_around(const struct object *object,
					    const struct node *node);

#endif
