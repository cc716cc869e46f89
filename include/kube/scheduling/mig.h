/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MIG profiles and the products that offer them (rules/kube/data). A profile
 * is written as in resource names, without "nvidia.com/mig-": 1g.10gb.me.
 */
#ifndef KUBE_MIG_H
#define KUBE_MIG_H

#include <stdbool.h>

#include "kube/scheduling/affinity.h"

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

#endif
