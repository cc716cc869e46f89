/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The requirements of a pod for its node: nodeSelector and required node
 * affinity as one flat list. Also those that allow preemptible capacity.
 */
#ifndef KUBE_AFFINITY_H
#define KUBE_AFFINITY_H

#include "kube/object.h"

struct node_need {
	const char *key;
	const char *operator; /* In, NotIn, Exists, DoesNotExist, Gt, Lt */
	/* entry of nodeSelector, or affinity expression */
	const struct node *at;
	/* the scalar (nodeSelector) or list of values */
	const struct node *values;
	/* 0 for nodeSelector, n for the n-th ORed affinity term */
	unsigned term;
};

struct node_needs {
	struct node_need *items;
	size_t n;
	bool unknown;	/* a placeholder hides keys or values */
	unsigned terms; /* number of ORed affinity terms */
};

struct node_needs pod_node_needs(const struct pod *pod);
/* Returns the i-th value that In (or nodeSelector) allows, or NULL. */
const struct node *node_need_value(const struct node_need *need, size_t i);
/* Returns the value after this one, or NULL. Unlike an index, this is fast for
 * the long lists that an attacker may write. */
const struct node *node_need_next(const struct node_need *need,
				  const struct node *value);
/* True if only nodes with the key match: nodeSelector, In, Exists, Gt, Lt. */
bool node_need_requires(const struct node_need *need);
/* True if every matching node meets a requirement for which fits() is true.
 * Because terms are alternatives, either nodeSelector or each of the terms must
 * contain such a requirement. */
bool node_needs_imply(const struct node_needs *needs,
		      bool (*fits)(const struct node_need *need));

/* An entry of nodeSelector, and the affinity expression that excludes its
 * value. */
struct node_clash {
	const struct node *wanted, *expression;
};

/* Returns the topologyKey of the term of the pod's required anti-affinity by
 * which no two pods of the template run on one node, or NULL. */
const struct node *pod_keeps_apart(const struct pod *pod);
/* True if all pods of the template run on one node, because of nodeName, a
 * selector for the hostname, or a required affinity to each other. */
bool pod_keeps_together(const struct pod *pod);

/*
 * Spot and preemptible capacity.
 */

/*
 * Returns the selector or toleration that lets the pod run on spot or
 * preemptible nodes, or NULL.
 */
const struct node *pod_spot(const struct pod *pod);
/* True if the label with this value selects such nodes. */
bool spot_is_selected(const char *key, const struct node *value);

#endif
