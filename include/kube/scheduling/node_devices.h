/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes, from instance types and count labels in nodeSelector and required
 * node affinity, the number of accelerators of the nodes that a pod selects.
 */
#ifndef KUBE_NODE_DEVICES_H
#define KUBE_NODE_DEVICES_H

#include <stdbool.h>
#include <stdint.h>

#include "kube/object.h"
#include "kube/quantity.h"
#include "kube/scheduling/affinity.h"

struct node_devices {
	/* largest number that the selected instance types and count labels
	 * have, or 0 if none is selected */
	int64_t most;
	/* no selected node has more, because the number is known for every
	 * value and every term has one */
	bool bounded;
	/* several types, or an unknown one, are selected */
	bool several;
	/* the type, if every selected node has it */
	const struct instance_type *type;
	/* node of the value from which most is derived */
	const struct node *at;
};
struct node_devices pod_node_devices(const struct pod *pod);
/* Returns the number of accelerators of nodes with the label; -1 if unknown. */
int64_t node_label_devices(const char *key, const char *value);
/* Returns the largest number of accelerators of nodes with one of the values of
 * an In requirement; -1 if one of them is unknown. */
int64_t node_need_devices(const struct node_need *need);
/* Returns the memory of a node of this type. */
struct quantity instance_type_memory(const struct instance_type *type);

/* True if the pod requests an extended resource, which only some nodes have: an
 * accelerator, a fabric, or a device under a name of the site. */
bool pod_asks_extended(const struct pod *pod);
/* True if the pod requests an extended resource or uses files of its node, so
 * that other nodes may not do. */
bool pod_needs_its_nodes(const struct pod *pod);

#endif
