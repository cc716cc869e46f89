/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kueue's arithmetic: the most that a ClusterQueue can ever give to one PodSet.
 * Source: kueue pkg/cache (flavors per PodSet; without a borrowingLimit,
 * borrowing within a cohort is unlimited).
 */
#ifndef KUBE_QUEUE_H
#define KUBE_QUEUE_H

#include "kube/pod.h"
#include "kube/set/index.h"

struct queue_offer {
	bool covered; /* some resource group lists the resource */
	/* A group lists a resource whose name is derived from this one, as
	 * Kueue's configuration may replace it (resources.transformations). */
	bool replaced;
	bool unlimited;	      /* a cohort lends without a limit; or unknown */
	struct quantity most; /* of the best flavor */
	const char *flavor;   /* that one */
};
/* queue: a ClusterQueue from a cluster state. */
struct queue_offer queue_offers(const struct node *queue, const char *resource);

/* Why a flavor never takes a pod; text NULL: no known reason. */
struct flavor_misfit {
	const char *text;
	const struct node *at; /* in the pod, or NULL */
};
/* whole: the flavor has all of its fields; older snapshots omit some. */
struct flavor_misfit queue_flavor_misfit(struct arena *arena,
					 const struct pod *pod,
					 const struct node *flavor, bool whole);

#endif
