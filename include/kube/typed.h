/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An object as the API server sees it when it handles a CREATE: native kinds as
 * the typed object (unknown fields dropped, quantities canonical, empty fields
 * omitted or filled in, defaults set), custom kinds by the schema of their
 * definition (pruned, defaults set). A value that the server or an admission
 * plugin sets and that cannot be known here is an unknown node.
 *
 * The result is a separate tree in the arena. Its nodes have the bytes of the
 * nodes that they were made of; filled-in nodes have none, and typed_origin()
 * leads to the author's node.
 */
#ifndef KUBE_TYPED_H
#define KUBE_TYPED_H

#include "kube/object.h"

struct typed_resource {
	const char *plural;
	bool cluster_scoped;
	bool known; /* from a table; else by the usual plural */
};
struct typed_resource typed_resource(struct arena *arena, const char *group,
				     const char *version, const char *kind);
/* True if the API server serves this version of a native group's resource. */
bool typed_serves(const char *group, const char *version, const char *plural);
/* True if the API server itself defines the group. */
bool typed_group_is_native(const char *group);

/*
 * Returns NULL for an unknown version of a native group's kind. schema: the
 * openAPIV3Schema of a custom kind, or NULL. In fragments only quantities are
 * made canonical, and nothing is filled in.
 */
struct node *typed_object(struct arena *arena, const struct object *object,
			  const struct node *schema);
/*
 * A native kind as the API server will send it; but a field that the author
 * left out and an admission plugin may set stays unset. Rules read it in a
 * file, so that they find the same as at admission. Other kinds: the object's
 * own root.
 */
const struct node *typed_as_sent(struct arena *arena,
				 const struct object *object);
/* Finds the author's node, below origin, from which a node below typed was
 * made, or the nearest one around it. NULL if it is in another tree. */
const struct node *typed_origin(const struct node *node,
				const struct node *typed,
				const struct node *origin);

/*
 * A field that the Go types of Kubernetes 1.37 lack, anywhere in an object of a
 * native kind or in a pod template, except in a status.
 */
struct unknown_field {
	const struct node *at;
	const char *type;  /* "PodSpec"; valid during found() */
	const char *owner; /* an enclosing type, or one of its fields, that has
			      such a field; or NULL */
	const char *near; /* a field of the type with a similar name, or NULL */
};

struct unknown_walk {
	void (*found)(struct unknown_walk *walk,
		      const struct unknown_field *field);
	/* The caller's. */
	void *context;
	const struct object *object;
	const struct pod *pod;
};

/* Walks the object, or if the walk has a pod, its template. Returns false for a
 * kind or version that is not in the tables. */
bool typed_unknown_fields(struct unknown_walk *walk);

#endif
