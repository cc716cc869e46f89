/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LeaderWorkerSet, and DisaggregatedSet, which is made of them. The unit is one
 * group: a leader and its workers.
 *
 * Source: lws api/leaderworkerset/v1 types, its reconcilers.
 */
#include "rules/kube/operator.h"

COUNT_FORMULA(lws_workers)
{
	struct amount size = amount_field(at, "size", 1);

	if (field_is_set(at, "leaderTemplate") && size.n > 0)
		size.n--;
	return size;
}

COUNT_FORMULA(lws_surge)
{
	struct amount groups = amount_field(at, "replicas", 1);
	const struct node *surge = node_path(
		at, "rolloutStrategy.rollingUpdateConfiguration.maxSurge");

	return amount_add(groups, amount_share(surge, groups, 0));
}

/* The unit is one group: leader and workers. */
static struct gang gang(struct arena *arena, const struct object *object)
{
	struct gang out = {.n = amount_of(1), .needed = true};

	FOR_EACH_POD(object, pod)
		out.n = amount_max(out.n,
				   amount_int(node_get(pod->group, "size"), 1));
	return out;
}

const struct operator operator_lws = {
	.gang = gang,
	.makes_pod_groups = true,
	.ranks_are_pods = true,
};
