/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Node labels as a policy gives them, "KEY=VALUE,...", and the vendor of the
 * accelerators that a label is about.
 */
#ifndef KUBE_LABELS_H
#define KUBE_LABELS_H

#include <stdbool.h>

#include "base/arena.h"
#include "kube/object.h"

struct label_pair {
	const char *key, *value;
};

/* The next pair, led on in *text; false: there are no more. */
bool labels_next(struct arena *arena, const char **text,
		 struct label_pair *out);
/* The vendor of the accelerators that nodes with this label have, or NULL. */
const char *node_label_vendor(const char *key, const char *value);
/* Accelerators of the nodes that the label selects; -1: it does not say. */
int64_t node_label_count(const char *key, const char *value);
/* True if nodes with this label may have the devices that the pod requests. */
bool node_label_suits(const struct pod *pod, const struct label_pair *label);
/* A label that distinguishes the pod's type of accelerator from others of its
 * vendor. */
const char *node_product_label(const struct pod *pod);
/* Only MIG profiles, whose names contain the size of the slice? */
bool pod_wants_profiles(const struct pod *pod);
/* True for vendors with a resource for each model: `MR-V100-vgpu`, `mlu370`. */
bool pod_resource_names_model(const struct pod *pod);

#endif
