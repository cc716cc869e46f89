/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values that the types of the API server do not allow: words outside of an
 * enumeration, values that violate a constraint (a range, a form of name), and
 * required fields that are not set. The tables list values that kube-apiserver
 * 1.37 rejects.
 */
#ifndef KUBE_FIELD_VALUE_H
#define KUBE_FIELD_VALUE_H

#include "kube/object.h"

struct value_issue {
	const struct node *at; /* the value, or the map that lacks the field */
	const char *field;     /* "" for a violated constraint */
	/* the allowed words, NULL-terminated, if the value is none of them;
	 * else NULL */
	const char *const *values;
	/* the violated constraint in words, or NULL; if both are NULL, the
	 * required field is not set */
	const char *text;
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

#endif
