/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Without a readiness probe a pod is ready when its containers run.
 */
#include <inttypes.h>

#include "engine/rule.h"
#include "kube/command/parallel.h"

static const struct degree *waits_for(struct rule_run *run,
				      const struct container *c)
{
	struct parallel_list list = container_parallel(c);

	for (size_t i = 0; i < list.n; i++) {
		const struct degree *nodes =
			&list.items[i].degrees[DEGREE_NODES];

		if (nodes->given && nodes->n > 1)
			return nodes;
	}
	return NULL;
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct node *spec = node_get(pod->object->root, "spec");
	const struct node *policy = node_get(spec, "podManagementPolicy");

	if (!object_is(pod->object, "apps", "StatefulSet") ||
	    pod->steady.n < 2 ||
	    (!node_is_unset(policy) && !node_eq(policy, "OrderedReady")))
		return;
	FOR_EACH_CONTAINER(pod, c) {
		const struct degree *nodes;

		if (c->gpus.n < 1 ||
		    node_is_unset(node_get(c->node, "readinessProbe")))
			continue;
		nodes = waits_for(run, c);
		if (nodes)
			report_container(
				run, c, nodes->node,
				"container `%s` waits for %" PRId64
				" nodes, and the next pod is created only "
				"when this one is ready",
				container_title(c), nodes->n);
	}
}

const struct rule rule_statefulset_orderedready_gang = {
	.name = "statefulset-orderedready-gang",
	.category = "gang",
	.severity = SEVERITY_WARNING,
	.flags = RULE_PREVIEW,
	.wants = FACT_DEVICES | FACT_SEVERAL | FACT_PROBES,
	.since = "1.0",
	.summary =
		"ranks that start one by one, each when the previous one is ready",
	.why = "A rank becomes ready only when all have met, and the next one is created only when it is ready: the set never starts.",
	.remedy = "Set podManagementPolicy: Parallel.",
	.evidence =
		"https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#pod-management-policies",
	.check_pod = check,
};
