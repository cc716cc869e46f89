/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kueue's arithmetic: what a ClusterQueue can ever give to one PodSet. Source:
 * kueue pkg/cache (flavors per PodSet; a borrowingLimit that is not set is
 * none within a cohort).
 */
#ifndef KUBE_QUEUE_H
#define KUBE_QUEUE_H

#include "kube/pod.h"
#include "kube/set/index.h"

struct queue_offer {
	bool covered;	      /* some resource group names the resource */
	bool unlimited;	      /* a cohort lends without a limit; not known */
	struct quantity most; /* of the best flavor */
	const char *flavor;   /* that one */
};
/* queue: a ClusterQueue as a cluster state keeps it. */
struct queue_offer queue_offers(const struct node *queue, const char *resource);
/* True if the queue covers a resource whose name is made of this one's, as
 * Kueue's configuration may replace it (resources.transformations). */
bool queue_replaces(const struct node *queue, const char *resource);
/* Pods of this template that Kueue admits at once, at least: those of a
 * Deployment one by one, those of a LeaderWorkerSet by group (not known here:
 * one). */
int64_t queue_pods(const struct workload *workload,
		   const struct workload_pod *pod);

/* Why a flavor never takes a pod; text NULL: nothing known prevents it. */
struct flavor_misfit {
	const char *text;
	const struct node *at; /* in the pod, or NULL */
};
/* whole: the flavor has all of its fields; an older snapshot leaves some out.
 */
struct flavor_misfit queue_flavor_misfit(struct arena *arena,
					 const struct pod *pod,
					 const struct node *flavor, bool whole);

#endif
