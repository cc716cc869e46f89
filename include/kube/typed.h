/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An object as the API server sees it when it handles a CREATE, and the kinds,
 * fields and values that it rejects. The object: native kinds as the typed
 * object (unknown fields dropped, quantities canonical, empty fields omitted
 * or filled in, defaults set), custom kinds by the schema of their definition
 * (pruned, defaults set). If the server or an admission plugin sets a value
 * that depends on the cluster, its node is unknown.
 *
 * The result is a separate tree in the arena. A node that was made from a node
 * of the author has its source position; other nodes have none. typed_origin()
 * returns the author's node.
 */
#ifndef KUBE_TYPED_H
#define KUBE_TYPED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "doc/node.h"
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

/*
 * Values of a type that the API server cannot decode into their field. Null and
 * placeholders are skipped.
 *
 * Built-in objects are decoded into Go types; custom resources are validated by
 * the schema of their definition, where a quantity is an integer or a string of
 * a fixed pattern (no 0.5, no blanks).
 */

/* Returns the type of a value in words: "a number". */
const char *node_type_text(const struct node *node);

/* -- types --------------------------------------------------------------- */

struct field_issue {
	const struct node *at; /* node of the value */
	const char *field;     /* "env", "nodeSelector", "replicas" */
	const char *wanted;    /* "a string" */
	const struct object *object;
	const struct pod *pod;	   /* pod that contains it, or NULL */
	const struct container *c; /* container that contains it, or NULL */
};

struct field_walk {
	bool counts_only; /* check only numbers of pods */
	bool valid;	  /* typed_survey() found no value of a wrong type */
	/* The input or the cluster defines the custom kind, so the table is not
	 * used for it. */
	bool defined;
	/* Set during found(): the value is in a field that is defined by an
	 * operator's kind, not by the Go types. */
	bool custom;
	void (*found)(struct field_walk *walk, const struct field_issue *issue);
	void *context;
};
void field_issues(struct field_walk *walk, const struct object *object);

/* -- quantities ---------------------------------------------------------- */

/* True if the limit or request is 0. In a native kind null is 0
 * (apimachinery Quantity.UnmarshalJSON), except in a patch, where it removes
 * the entry. */
bool entry_is_zero(const struct container *c,
		   const struct resource_entry *entry);

/*
 * Values that the types of the API server do not allow: words outside of an
 * enumeration, values that violate a constraint (a range, a form of name), and
 * required fields that are not set. The tables list values that kube-apiserver
 * 1.37 rejects.
 */

struct value_issue {
	const struct node *at; /* the value, or the map that lacks the field */
	const char *field;     /* "" for a violated constraint */
	/* the allowed words, NULL-terminated, if the value is none of them;
	 * else NULL */
	const char *const *values;
	/* the violated constraint in words, or NULL; if both are NULL, the
	 * required field is not set */
	const char *text;
	/* first release of the operator that has the constraint; NULL: all */
	const char *since;
	const struct object *object;
	const struct pod *pod;	   /* pod that contains it, or NULL */
	const struct container *c; /* container that contains it, or NULL */
};

enum value_check {
	VALUE_WORDS, /* words outside of an enumeration */
	VALUE_CONSTRAINTS,
	VALUE_MISSING, /* required fields that are not set */
};

struct value_walk {
	void (*found)(struct value_walk *walk, const struct value_issue *issue);
	void *context;
	/* True if the text does not match a regular expression of Go. */
	bool (*mismatches)(struct value_walk *walk, const char *pattern,
			   const struct node *text);
	struct arena *arena; /* memory of the texts */
	enum value_check check;
	bool custom_only; /* check pods of custom kinds alone */
	/* The input or the cluster defines the custom kind, so the table is not
	 * used for it. */
	bool defined;
	/* Set during found(): the value is in a field that is defined by an
	 * operator's kind, not by the Go types. */
	bool custom;
};
void value_issues(struct value_walk *walk, const struct object *object);

/* Misspelled kinds, and kinds that belong to another API group. */

enum kind_fault {
	KIND_NO_FAULT,
	/* differs only in case, or is similar to a native kind */
	KIND_MISSPELLED,
	KIND_ELSEWHERE, /* exists in another group */
};

struct kind_meant {
	const char *kind, *group;
	const char *version; /* NULL: unknown */
};

/* Returns the fault of the object's kind, and sets *meant to the kind that was
 * probably meant. Returns no fault if the kind is known or may exist. */
enum kind_fault kind_fault(const struct object *object,
			   struct kind_meant *meant);

/* Paths to the pods of the kinds in rules/kube/data/kinds.txt. */

struct pod_path {
	/* Keys from the object's root, NULL-terminated. "[]" means each item of
	 * a list, "*" each value of a map; a path has at most one of them. */
	const char *const *steps;
	bool is_spec; /* leads to a PodSpec, not to a pod template */
	/* has containers in other places than initContainers and containers */
	bool boxes;
};

/* Returns the n pod paths of a kind (group "": the core group). Returns NULL if
 * paths cannot express them; *why is then the reason, as a clause whose subject
 * is the kind. */
const struct pod_path *kind_pod_paths(struct arena *arena, const char *group,
				      const char *kind, size_t *n,
				      const char **why);
/* Returns the i-th group that has a kind of this name; NULL past the last. */
const char *kind_group(const char *kind, size_t i);

#endif
