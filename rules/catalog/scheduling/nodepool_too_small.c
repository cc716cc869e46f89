/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports pods that select a Karpenter NodePool and request more accelerators
 * than any instance type in the pool's requirements has. Source: karpenter
 * pkg/controllers/provisioning/scheduling nodeclaim.go ("no instance type
 * satisfied resources").
 */
#include "engine/rule.h"
#include "kube/scheduling/node_devices.h"
#include "kube/scheduling/sharing.h"
#include "kube/set/index_find.h"

/* Returns the largest number of accelerators that the requirement allows, or
 * -1. */
static int64_t most_of(const struct node *requirement)
{
	struct node_need need = {
		.key = node_str(node_get(requirement, "key")),
		.operator= node_str(node_get(requirement, "operator")),
		.values = node_get(requirement, "values"),
	};

	return need.key ? node_need_devices(&need) : -1;
}

/* True if the pod requests a known number of whole devices. */
static bool requests_devices(struct rule_run *run, const struct pod *pod)
{
	return !pod->gpus.unknown && pod->gpus.n > 0 &&
	       pod_requests_whole(rule_cluster(run), pod);
}

static void check_pool(struct rule_run *run, const struct pod *pod,
		       const struct found_object *pool, const struct node *at)
{
	FOR_EACH_CHILD(node_path(pool->root, "spec.template.spec.requirements"),
		       requirement) {
		int64_t most = most_of(requirement);
		struct finding *f;

		if (most < 0 || most >= pod->gpus.n)
			continue;
		f = report_pod(
			run, pod, at,
			"no node of NodePool `%s` has more than %s (`%s`), but a pod requests %s",
			pool->name, rule_count(run, most, "accelerator"),
			node_get(requirement, "key")->str,
			rule_number(run, pod->gpus.n));
		finding_label_place(run, f, &pool->place, "the pool");
		return;
	}
}

static void check(struct rule_run *run, const struct workload *w)
{
	const struct object *object = NULL;

	if (!w->child &&
	    (index_keeps(rule_index(run), CLUSTER_NODE_POOL) || w->cluster))
		object = rule_object(run, w);
	if (!object)
		return;
	FOR_EACH_POD(object, pod) {
		const struct node *at = node_get(pod_field(pod, "nodeSelector"),
						 "karpenter.sh/nodepool");
		const struct found_object *pool =
			node_str(at) && requests_devices(run, pod)
				? index_find(rule_index(run), w,
					     CLUSTER_NODE_POOL, at->str,
					     rule_arena(run))
				: NULL;

		if (pool)
			check_pool(run, pod, pool, at);
	}
}

const struct rule rule_nodepool_too_small = {
	.name = "nodepool-too-small",
	.category = "scheduling",
	.severity = SEVERITY_ERROR,
	.needs = NEEDS_SET,
	.since = "1.0",
	.summary =
		"a pod requests more accelerators than the nodes of its NodePool have",
	.why = "Karpenter finds no instance type for the pod (`no instance type satisfied resources`): it stays Pending.",
	.remedy =
		"Add larger instance types to the requirements of the NodePool, or request fewer accelerators per pod.",
	.evidence =
		"https://github.com/aws/karpenter-provider-aws/issues/8064; https://karpenter.sh/docs/concepts/nodepools/",
	.check_workload = check,
};
