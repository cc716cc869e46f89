/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An object as the API server sees it when it handles a CREATE: native kinds as
 * the typed object (unknown fields dropped, quantities canonical, empty fields
 * omitted or filled in, defaults set), custom kinds by the schema of their
 * definition (pruned, defaults set). If the server or an admission plugin sets
 * a value that depends on the cluster, its node is unknown.
 *
 * The result is a separate tree in the arena. A node that was made from a node
 * of the author has its source position; other nodes have none. typed_origin()
 * returns the author's node.
 */
#ifndef KUBE_TYPED_H
#define KUBE_TYPED_H

#include "kube/object.h"

struct typed_resource {
	const char *plural;
	bool cluster_scoped;
	bool known; /* found in a table, not derived as the usual plural */
};
struct typed_resource typed_resource(struct arena *arena, const char *group,
				     const char *version, const char *kind);
/* True if the API server serves this version of a native group's resource. */
bool typed_serves(const char *group, const char *version, const char *plural);
/* True if the API server itself defines the group. */
bool typed_group_is_native(const char *group);

/*
 * Returns the tree of the object as the API server sees it; NULL for an unknown
 * version of a native group's kind. schema is the openAPIV3Schema of a custom
 * kind, or NULL. In fragments, only quantities are made canonical and no fields
 * are added.
 */
struct node *typed_object(struct arena *arena, const struct object *object,
			  const struct node *schema);
/*
 * Returns the root of a native kind as the API server would send it to a
 * webhook, except that a field which an admission plugin may set stays unset.
 * With it, rules find in a file the same as at admission. For other kinds,
 * returns the object's own root.
 */
const struct node *typed_as_sent(struct arena *arena,
				 const struct object *object);
/* Returns the author's node, below origin, from which a node below typed was
 * made, or else that of its nearest parent. NULL if the node is in another
 * tree. */
const struct node *typed_origin(const struct node *node,
				const struct node *typed,
				const struct node *origin);

/* Checks that find no fault in most objects, as bits. */
enum typed_check {
	TYPED_SURVEYED = 1, /* always set */
	TYPED_UNKNOWN = 2,  /* typed_unknown_fields() */
	TYPED_TYPES = 4,    /* field_issues(), except numbers of pods */
	TYPED_VALUES = 8,   /* value_issues() */
	TYPED_ALL = 15,
};
/* Returns the checks that may report something about the object; TYPED_ALL for
 * a kind that is not native. arena is for temporary texts. */
unsigned typed_survey(struct arena *arena, const struct object *object);

/*
 * A field of a native object or a pod template that the Go types of Kubernetes
 * 1.37 do not have. Fields of a status are not reported.
 */
struct unknown_field {
	const struct node *at;
	const char *type; /* "PodSpec"; valid during found() */
	/* another enclosing type, or a type of one of its fields, that has such
	 * a field; or NULL */
	const char *owner;
	/* other types have it as well, or the owner already has one */
	bool unclear;
	const char *near; /* a field of the type with a similar name, or NULL */
};

struct unknown_walk {
	void (*found)(struct unknown_walk *walk,
		      const struct unknown_field *field);
	/* Set by the caller. */
	void *context;
	const struct object *object;
	const struct pod *pod;
	/* The input or the cluster defines the custom kind, so the table is not
	 * used for it. */
	bool defined;
	/* Set by typed_unknown_fields(): the object's fields are those of the
	 * releases of an operator. */
	bool custom;
	bool loose; /* some definitions of the custom kind preserve all fields
		     */
};

/* Checks the object, or if the walk has a pod, its template. Returns true if it
 * checked a template or an object of a native kind; false for a kind of an
 * operator, which is checked if the table has it, and for other kinds and
 * versions. */
bool typed_unknown_fields(struct unknown_walk *walk);

#endif
