/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An object as the API server sees it when it judges a CREATE: native kinds as
 * the typed object (unknown fields are gone, quantities are canonical, empty
 * fields left out or filled in, defaults set), custom kinds by the schema of
 * their definition (pruned, defaults set). What the server or an admission
 * plugin sets to a value that cannot be known here is an unknown node.
 *
 * The result is a tree of its own in the arena. Its nodes have the bytes of
 * those that they were made of; what was filled in has none, and typed_origin()
 * leads to the author's node.
 */
#ifndef KUBE_TYPED_H
#define KUBE_TYPED_H

#include "kube/object.h"

struct typed_resource {
	const char *plural;
	bool cluster_scoped;
	bool known; /* by a table; else by the usual way of naming */
};
struct typed_resource typed_resource(struct arena *arena, const char *group,
				     const char *version, const char *kind);
/* Does the API server serve this version of a native group's resource? */
bool typed_serves(const char *group, const char *version, const char *plural);
/* Is the group one of the API server's own? */
bool typed_group_is_native(const char *group);

/*
 * NULL: a native group's kind in a version that is not known here. schema: the
 * openAPIV3Schema of a custom kind, or NULL. In fragments nothing is filled in.
 */
struct node *typed_object(struct arena *arena, const struct object *object,
			  const struct node *schema);
/* The author's node, below origin, that a node below typed was made of, or the
 * nearest one around it. NULL: it is of another tree. */
const struct node *typed_origin(const struct node *node,
				const struct node *typed,
				const struct node *origin);

#endif
