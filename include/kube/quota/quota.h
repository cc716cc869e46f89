/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ResourceQuotas and the demand of workloads, counted as in
 * pkg/quota/v1/evaluator/core: extended resources only under "requests.<name>",
 * scopes by properties of the pod, every matching quota applies.
 */
#ifndef KUBE_QUOTA_H
#define KUBE_QUOTA_H

#include "kube/set/index.h"

/* Demand of other workloads of the namespace that were admitted a moment ago
 * and are not in status.used yet. */
struct reservations {
	struct quantity (*of)(void *context, const struct workload *workload,
			      const char *resource);
	void *context;
};

/* The entry "requests.<resource>" of `hard`, or NULL. */
const struct resource_amount *quota_hard_requests(const struct quota *quota,
						  const char *resource);
/*
 * The amount of one entry of `hard` that is left for a workload: hard - used +
 * the amount of its pods. Without status.used (no cluster): hard.
 */
struct quota_room {
	struct quantity used, own, left;
	struct quantity reserved; /* for others, not yet in status.used */
	bool known;		  /* used is known */
};
struct quota_room quota_room(const struct quota *quota,
			     const struct resource_amount *hard,
			     const struct workload *workload,
			     const char *resource);
/* Returns whether all scopes of the quota select this pod. */
enum tri quota_selects(const struct quota *quota,
		       const struct workload_pod *pod);
/*
 * Finds keys of spec.hard that never limit accelerators. hami: HAMi's scheduler
 * reads certain limits.* keys.
 */
struct quota_key {
	const char *resource; /* without requests., limits., count/ */
	const struct accelerator *accelerator; /* that the key means */
	const char *why;
};
/* The accelerator that this entry of `hard` limits ("requests." + name), or
 * NULL. */
const char *quota_accelerator(const struct accelerator_extra *extra,
			      const struct resource_amount *hard);
/* True if the quota limits any accelerator. */
bool quota_has_accelerator(const struct accelerator_extra *extra,
			   const struct quota *quota);

/*
 * Whole-workload demand for one resource over the pods the quota selects:
 * pods x request. unknown: the sums are lower bounds.
 */
struct demand {
	struct quantity steady, peak;
	/* The peak without a Job's replaced pods. A pod counts in a quota until
	 * it ends or its grace period is over (pkg/quota/v1/evaluator/core/
	 * pods.go, QuotaV1Pod): its replacement waits for that if the quota has
	 * no room for both. */
	struct quantity lasting;
	bool unknown;
};
struct demand workload_demand(const struct workload *workload,
			      const struct quota *quota, const char *resource);

/*
 * Iteration over a workload and each accelerator that a quota of its namespace
 * limits. At first all members except the first two are zero.
 */
struct quota_case {
	const struct object_index *index;
	const struct workload *workload;
	const struct quota *quota;
	const struct resource_amount *hard;
	const char *resource;
	struct demand demand;
	struct quota_room room;
	const struct quota *quotas; /* of the namespace, once they are found */
	size_t nquotas;
	size_t nth_quota, nth_hard; /* the next */
};
bool quota_case_next(const struct accelerator_extra *extra,
		     struct quota_case *one);

/* True if a LimitRange of the namespace gives containers a default of the
 * resource, as a request or a limit. */
bool limit_range_defaults(const struct cluster *cluster, const char *namespace,
			  const char *resource, struct arena *arena);

#endif
