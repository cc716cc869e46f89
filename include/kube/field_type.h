/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of a type that the API server cannot decode into their field. Null and
 * placeholders are skipped.
 *
 * Built-in objects are decoded into Go types; custom resources are validated by
 * the schema of their definition, where a quantity is an integer or a string of
 * a fixed pattern (no 0.5, no blanks).
 */
#ifndef KUBE_FIELD_TYPE_H
#define KUBE_FIELD_TYPE_H

#include <stdbool.h>

#include "base/arena.h"
#include "doc/node.h"
#include "kube/object.h"

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

#endif
