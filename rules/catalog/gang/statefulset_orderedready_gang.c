/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Without a readiness probe a pod is ready when its containers run.
 */
#include <inttypes.h>

#include "engine/rule.h"
#include "kube/command/parallel.h"

/* True if the probe tests a port. A command may test anything, and the port of
 * a launcher's store opens before the other pods start. */
static bool asks_port(const struct container *c, bool server)
{
	const struct node *probe = node_get(c->node, "readinessProbe");

	return node_get(probe, "httpGet") || node_get(probe, "grpc") ||
	       (server && node_get(probe, "tcpSocket"));
}

static const struct degree *waits_for(const struct container *c, bool *server)
{
	struct parallel_list list = container_parallel(c);

	for (size_t i = 0; i < list.n; i++) {
		const struct degree *nodes =
			&list.items[i].degrees[DEGREE_NODES];

		*server = list.items[i].type == PARALLEL_SERVER;
		if (nodes->given && nodes->n > 1 && asks_port(c, *server))
			return nodes;
	}
	return NULL;
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct node *policy;

	if (pod->steady.n < 2 || !object_is(pod->object, "apps", "StatefulSet"))
		return;
	policy = node_path(pod->object->root, "spec.podManagementPolicy");
	if (!node_is_unset(policy) && !node_eq(policy, "OrderedReady"))
		return;
	FOR_EACH_CONTAINER(pod, c) {
		const struct degree *nodes;
		struct finding *f;
		bool server;

		if (c->gpus.n < 1 ||
		    node_is_unset(node_get(c->node, "readinessProbe")))
			continue;
		nodes = waits_for(c, &server);
		if (!nodes)
			continue;
		f = report_container(
			run, c, nodes->node,
			"container `%s` waits for %" PRId64
			" nodes, but the next pod is created only when this one is ready",
			container_title(c), nodes->n);
		if (server)
			continue;
		finding_severity(f, SEVERITY_INFO);
		finding_help(
			run, f,
			"if the probed endpoint waits for them too, the StatefulSet never starts");
	}
}

const struct rule rule_statefulset_orderedready_gang = {
	.name = "statefulset-orderedready-gang",
	.category = "gang",
	.severity = SEVERITY_WARNING,
	.flags = RULE_PREVIEW | RULE_ABSENCE,
	.since = "1.0",
	.summary =
		"ranks that start one by one, each after the previous one is ready",
	.why = "A rank becomes ready only after all ranks have met, but the next rank is created only after this one is ready: the StatefulSet never starts.",
	.remedy = "Set podManagementPolicy: Parallel.",
	.evidence =
		"https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#pod-management-policies",
	.check_pod = check,
};
