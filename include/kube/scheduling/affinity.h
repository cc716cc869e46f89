/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The requirements of a pod for its node: nodeSelector and required node
 * affinity as one flat list.
 */
#ifndef KUBE_AFFINITY_H
#define KUBE_AFFINITY_H

#include "kube/object.h"

struct node_need {
	const char *key;
	const char *operator;	   /* In, NotIn, Exists, DoesNotExist, Gt, Lt */
	const struct node *at;	   /* entry of nodeSelector, or expression */
	const struct node *values; /* scalar (nodeSelector) or list */
	unsigned term;		   /* 0: nodeSelector; n: the n-th ORed term */
};

struct node_needs {
	struct node_need *items;
	size_t n;
	bool unknown;	/* a placeholder hides keys or values */
	unsigned terms; /* ORed affinity terms */
};

struct node_needs pod_node_needs(const struct pod *pod);
/* The i-th value that In (or nodeSelector) allows, or NULL. */
const struct node *node_need_value(const struct node_need *need, size_t i);
/* The next value, or NULL. An iterator, because hostile lists are long. */
const struct node *node_need_next(const struct node_need *need,
				  const struct node *value);
/* True if only nodes with the key match: nodeSelector, In, Exists, Gt, Lt. */
bool node_need_requires(const struct node_need *need);
/* True if every matching node meets a requirement for which fits() is true.
 * Terms are alternatives: unless nodeSelector has such a requirement, each of
 * them must have one. */
bool node_needs_imply(const struct node_needs *needs,
		      bool (*fits)(const struct node_need *need));

/* An entry of nodeSelector, and the expression that excludes its value. */
struct node_clash {
	const struct node *wanted, *expression;
};

/* The term of its required anti-affinity that keeps any two pods of the
 * template on different nodes, or NULL. */
const struct node *pod_keeps_apart(const struct pod *pod);
/* True if all pods of the template run on one node: by its name, a selector for
 * its hostname, or a required affinity to each other. */
bool pod_keeps_together(const struct pod *pod);

#endif
