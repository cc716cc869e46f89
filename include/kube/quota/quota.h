/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ResourceQuotas and the requests of workloads, counted as in
 * pkg/quota/v1/evaluator/core: extended resources only under
 * "requests.<name>", scopes by properties of the pod, every matching quota
 * applies. Also the queues of Kueue.
 */
#ifndef KUBE_QUOTA_H
#define KUBE_QUOTA_H

#include "kube/pod.h"
#include "kube/set/index.h"
#include "kube/set/index_find.h"

/* Requests of other workloads in the namespace that were admitted a moment ago
 * and are not in status.used yet. */
struct reservations {
	struct quantity (*of)(void *context, const struct workload *workload,
			      const char *resource);
	void *context;
};

/* Returns the entry "requests.<resource>" of `hard`, or NULL. */
const struct resource_amount *quota_hard_requests(const struct quota *quota,
						  const char *resource);
/*
 * Amount of one entry of `hard` that is left for a workload: hard - used, plus
 * the amount that its own pods use, minus reservations. Without status.used (no
 * cluster), it is the whole of hard.
 */
struct quota_room {
	struct quantity used, own, left;
	/* by other workloads, not yet in status.used */
	struct quantity reserved;
	bool known; /* used is known */
};
struct quota_room quota_room(const struct quota *quota,
			     const struct resource_amount *hard,
			     const struct workload *workload,
			     const char *resource);
/* Returns whether all scopes of the quota select this pod. */
enum tri quota_selects(const struct quota *quota,
		       const struct workload_pod *pod);
/*
 * A key of spec.hard that never limits accelerators.
 */
struct quota_key {
	const char *resource; /* without "requests.", "limits." or "count/" */
	/* accelerator to which the key refers */
	const struct accelerator *accelerator;
	const char *why;
};
/* Returns the resource whose requests count for this entry of `hard`, which is
 * an accelerator or the key of a device class, or NULL. */
const char *quota_counted(const struct accelerator_extra *extra,
			  const struct resource_amount *hard);
/* True if the quota limits any accelerator. */
bool quota_has_accelerator(const struct accelerator_extra *extra,
			   const struct quota *quota);

/*
 * Requests of a whole workload for one resource: the sum of pods x request over
 * all pods that the quota selects (all pods if it is NULL). unknown means that
 * the sums are lower bounds.
 */
struct demand {
	struct quantity steady, peak;
	/* The peak without the pods that a Job replaces. A pod counts in a
	 * quota until it ends or its grace period is over
	 * (QuotaV1Pod() of pkg/quota/v1/evaluator/core/pods.go); if the quota
	 * has no room for both, its replacement waits until then. */
	struct quantity lasting;
	bool unknown;
};
struct demand workload_demand(const struct workload *workload,
			      const struct quota *quota, const char *resource);

/* Look-up of the device classes whose devices count as extended resources as
 * well. */
struct class_finder {
	/* minor version; before 36, and if it is unknown (0), none do */
	int kubernetes;
	struct arena *arena; /* for look-ups */
};

/*
 * An iteration over the accelerators and the device classes that quotas of a
 * workload's namespace limit. Initially, all members except the first three are
 * zero.
 */
struct quota_case {
	const struct object_index *index;
	const struct workload *workload;
	struct class_finder classes;
	const struct quota *quota;
	const struct resource_amount *hard;
	const char *resource;
	struct demand demand;
	bool claims; /* it includes devices of claims */
	struct quota_room room;
	/* quotas of the namespace, NULL before the first call */
	const struct quota *quotas;
	size_t nquotas;
	/* next quota and next entry of its `hard` */
	size_t nth_quota, nth_hard;
};
/* Moves to the next case; returns false at the end. */
bool quota_case_next(const struct accelerator_extra *extra,
		     struct quota_case *one);
/* Sets the demand for the quota and the resource of the case. */
void quota_case_sum(struct quota_case *one);

/*
 * An iteration over the ResourceClaims of the files, which pods may share, and
 * the entries of quotas that count their devices. Initially, all members except
 * the first three are zero.
 */
struct claim_case {
	const struct object_index *index;
	bool own; /* only quotas of the files, as a part of index->quotas */
	struct class_finder classes;
	/* the claim's first request of the class */
	const struct class_request *claim;
	const struct quota *quota;
	const struct resource_amount *hard;
	/* next request, quota and entry of its `hard` */
	const struct quota *quotas;
	size_t nquotas, nth_request, nth_quota, nth_hard;
};
/* Moves to the next case; returns false at the end. */
bool claim_case_next(struct claim_case *one);

struct cluster_object;

/* True if one of the LimitRanges gives containers a default of the resource, as
 * a request or a limit. */
bool limit_range_defaults(const struct cluster_object *ranges, size_t n,
			  const char *resource);

/*
 * Computes the most that a ClusterQueue of Kueue can ever give to one PodSet,
 * and finds flavors that never accept a pod. Source: kueue pkg/cache (flavors
 * per PodSet; without a borrowingLimit, borrowing within a cohort is
 * unlimited).
 */

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
