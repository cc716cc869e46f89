/* SPDX-License-Identifier: Apache-2.0 */
/* Devices of nodes, as labels and selectors show them. */
#ifndef KUBE_NODE_DEVICES_H
#define KUBE_NODE_DEVICES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "kube/object.h"
#include "kube/quantity.h"
#include "kube/scheduling/affinity.h"

/*
 * A node label, and the vendor of the accelerators that it implies.
 */

struct label_pair {
	const char *key, *value;
};

/* Returns the vendor of the accelerators on nodes with this label, or NULL. */
const char *node_label_vendor(const char *key, const char *value);

/*
 * MIG profiles and the products that offer them (rules/kube/data). A profile
 * is written as in resource names, without "nvidia.com/mig-": 1g.10gb.me.
 */

struct mig_profile {
	const char *product; /* A100-80GB, H100-80GB, ... */
	const char *profile; /* NULL: the product does not support MIG */
};

/* Number of devices of a product in the largest node type. */
struct product_size {
	const char *product;
	int most;
};

#define MIG_PREFIX "nvidia.com/mig-"

/* Returns the profiles of all products, and sets *n to their number. */
const struct mig_profile *mig_profiles(size_t *n);
/* Returns the GPU product of nodes with this value of nvidia.com/gpu.product,
 * of GKE's label or of an instance type; NULL if unknown or not a single
 * one. */
const char *mig_product_of(const char *key, const char *value);

/* Returns the largest number of GPUs per node according to a product label with
 * this value; -1 if unknown, or if the GPUs are time-sliced or partitioned. */
int mig_product_most(const char *value);

/* Products in a pod's selectors, at most two. */
struct mig_choice {
	const char *key;
	const struct node *value;
	const char *product;
};
struct mig_choices {
	struct mig_choice items[2];
	size_t n;
};
struct mig_choices mig_choices_of(const struct pod *pod);

/*
 * Computes, from instance types and count labels in nodeSelector and required
 * node affinity, the number of accelerators of the nodes that a pod selects.
 */

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
