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
	const char *profile; /* NULL: it has no MIG */
};

/* Number of devices of a product in the largest node. */
struct product_size {
	const char *product;
	int most;
};

#define MIG_PREFIX "nvidia.com/mig-"

/* True if this product (NULL: any product) offers it. */
bool mig_profile_on(const char *profile, const char *product);
/* The profile that is probably meant by a misspelled one, or NULL. */
const char *mig_profile_nearest(const char *profile);
/* Nodes with this value of nvidia.com/gpu.product, of GKE's label or of an
 * instance type have GPUs of one product; NULL if unknown or none. */
const char *mig_product_of(const char *key, const char *value);

/* The largest number of them on one node, according to such a label; -1 if
 * unknown, or if they are shared by time. */
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
