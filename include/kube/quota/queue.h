/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes the most that a ClusterQueue of Kueue can ever give to one PodSet,
 * and finds flavors that never accept a pod. Source: kueue pkg/cache (flavors
 * per PodSet; without a borrowingLimit, borrowing within a cohort is
 * unlimited).
 */
#ifndef KUBE_QUEUE_H
#define KUBE_QUEUE_H

#include "kube/pod.h"
#include "kube/set/index_find.h"

struct queue_offer {
	bool covered; /* a resource group lists the resource, or may list it */
	/* A group lists a resource whose name is derived from this one: Kueue's
	 * configuration may replace the resource by it
	 * (resources.transformations). */
	bool replaced;
	/* its cohort lends without a limit, or a quota or a limit is unknown */
	bool unlimited;
	struct quantity most; /* amount in the best flavor */
	const char *flavor;   /* the best flavor */
};
/* Returns the amount of the resource that a ClusterQueue of a snapshot can
 * give. */
struct queue_offer queue_offers(const struct node *queue, const char *resource);

/* Reason why a flavor never accepts a pod; text is NULL if none is known. */
struct flavor_misfit {
	const char *text;
	const struct node *at; /* node of the pod that is the reason, or NULL */
};
/* Returns the reason why the flavor never accepts the pod. topology is that of
 * the flavor, or NULL if it is unknown. */
struct flavor_misfit queue_flavor_misfit(struct arena *arena,
					 const struct pod *pod,
					 const struct found_object *flavor,
					 const struct found_object *topology);

#endif
