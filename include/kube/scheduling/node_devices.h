/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Number of accelerators of the nodes that a pod selects, from its own
 * selectors: instance types and count labels, in nodeSelector and in required
 * node affinity.
 */
#ifndef KUBE_NODE_DEVICES_H
#define KUBE_NODE_DEVICES_H

#include <stdint.h>

#include "kube/object.h"
#include "kube/quantity.h"
#include "kube/scheduling/affinity.h"

struct node_devices {
	int64_t most; /* the largest number of the named types; 0: no type is
			 named */
	const struct instance_type *type; /* if exactly one is named */
	const struct node *at;		  /* the value that implies `most` */
};
struct node_devices pod_node_devices(const struct pod *pod);
/* Accelerators of the nodes that the label selects; -1 if unknown. */
int64_t node_label_devices(const char *key, const char *value);
/* The largest number of accelerators that a value of an In requirement allows;
 * -1 if it is unknown for one of them. */
int64_t node_need_devices(const struct node_need *need);
/* The memory of a node of this type. */
struct quantity instance_type_memory(const struct instance_type *type);

#endif
