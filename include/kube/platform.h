/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of a cluster without its state: what a policy states
 * (`platform:`), and what an object shows of the platform that it is for.
 */
#ifndef KUBE_PLATFORM_H
#define KUBE_PLATFORM_H

#include "kube/object.h"

/* Lists end in NULL; a list that is NULL is not known. */
struct platform {
	const char *const *gpu_taints;	 /* keys of taints of GPU nodes */
	const char *const *gpu_products; /* products of GPU nodes */
	const char *const *priority_classes;
	const char *default_priority_class; /* NULL: none is named */
	/* Do LimitRanges give cpu and memory to containers without? */
	enum tri limit_defaults;
};

/*
 * Does it name a managed platform (GKE, EKS, AKS, Karpenter and the like), by
 * what its pods select or by an annotation? Such a platform adds tolerations
 * or leaves its nodes untainted by default. Roles of one object are
 * on one platform; a value that is not known (`${X}`) may name any.
 */
bool object_shows_platform(const struct object *object);

#endif
