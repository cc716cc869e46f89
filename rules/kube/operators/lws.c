/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LeaderWorkerSet, and DisaggregatedSet, which consists of LeaderWorkerSets:
 * numbers of pods, the pods that start together (one group, a leader and its
 * workers), and groups in one topology domain.
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

/* A gang is one group: the leader and its workers. */
static struct gang gang(const struct object *object)
{
	struct gang out = {.n = amount_of(1), .needed = true};

	FOR_EACH_POD(object, pod)
		out.n = amount_max(out.n,
				   amount_int(node_get(pod->group, "size"), 1));
	return out;
}

/*
 * True if annotations of the set give all pods of a group, or of a subgroup, an
 * affinity to each other. The leader is in the first subgroup unless the policy
 * sets otherwise (pkg/webhooks/pod_webhook.go, v0.7).
 */
static bool shares_domain(const struct pod *pod)
{
	const struct node *spec = pod->group ? pod->group->parent : NULL;
	const struct node *all =
		node_get(node_path(spec ? spec->parent : NULL, "metadata"),
			 "annotations");
	const struct node *policy = node_get(pod->group, "subGroupPolicy");

	if (node_get(all, "leaderworkerset.sigs.k8s.io/exclusive-topology"))
		return true;
	return node_get(all, "leaderworkerset.sigs.k8s.io/"
			     "subgroup-exclusive-topology") &&
	       policy && !node_eq(node_get(policy, "type"), "LeaderExcluded");
}

const struct workload_operator operator_lws = {
	.gang = gang,
	.shares_domain = shares_domain,
	.makes_pod_groups = true,
	.ranks_are_pods = true,
};
