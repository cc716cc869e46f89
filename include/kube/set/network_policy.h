/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Check whether network policies allow traffic between the pods of a workload.
 */
#ifndef KUBE_NETWORK_POLICY_H
#define KUBE_NETWORK_POLICY_H

#include "kube/set/index_find.h"

/* Pods that no pod of their workload may reach (Ingress), or that may reach
 * none (Egress). */
struct isolation {
	const struct workload_pod *pods;
	const struct found_object *policy; /* the first that selects them */
	const char *type;
};

/* True only where it is certain, as far as the policies are known. */
bool workload_isolated(const struct object_index *set, const struct workload *w,
		       struct arena *arena, struct isolation *out);

#endif
