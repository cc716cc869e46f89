/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports gangs in which a rank is created only after another one is ready.
 * Without a readiness probe, a pod is ready when its containers run. If a
 * launcher's probe may succeed before all ranks have connected, the finding is
 * an info. With LeaderReady, a LeaderWorkerSet creates the workers when their
 * leader is ready (lws pkg/controllers/pod_controller.go).
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/command/env.h"
#include "kube/command/parallel.h"

/* True if the probe may succeed only after the ranks have connected: it sends a
 * request, or connects to the port of a server. A command may check anything,
 * and the port of a launcher's store opens before the other pods start. */
static bool asks_port(const struct container *c, bool server)
{
	const struct node *probe = node_get(c->node, "readinessProbe");

	return node_get(probe, "httpGet") || node_get(probe, "grpc") ||
	       (server && node_get(probe, "tcpSocket"));
}

/*
 * True if the probe checks a port that only the program of a launcher can open:
 * torchrun and accelerate start it after all nodes have met (torch elastic
 * agent api.py, _initialize_workers). Ports of their stores, and those that the
 * command names, may open before.
 */
static bool asks_program(const struct container *c)
{
	const struct node *probe = node_get(c->node, "readinessProbe");
	const struct node *tcp = node_path(probe, "tcpSocket.port");
	const struct node *port = tcp ? tcp : node_path(probe, "httpGet.port");
	const char *first = node_str(node_at(node_get(c->node, "command"), 0));
	char number[24];
	int64_t n;

	if (c->pod->ncontainers != 1 || !node_int(port, &n) || n == 29400 ||
	    n == 29500 ||
	    (!text_ends(first, "torchrun") && !text_ends(first, "accelerate")))
		return false;
	snprintf(number, sizeof(number), "%lld", (long long)n);
	return !container_says(c, number);
}

static const struct degree *waits_for(const struct container *c, bool *certain)
{
	struct parallel_list list = container_parallel(c);

	for (size_t i = 0; i < list.n; i++) {
		const struct degree *nodes =
			&list.items[i].degrees[DEGREE_NODES];

		*certain = list.items[i].type == PARALLEL_SERVER;
		if (!nodes->given || nodes->n <= 1)
			continue;
		if (list.items[i].type == PARALLEL_LAUNCHER &&
		    asks_program(c)) {
			*certain = true;
			return nodes;
		}
		if (asks_port(c, *certain))
			return nodes;
	}
	return NULL;
}

static void check_ranks(struct rule_run *run, const struct container *c)
{
	bool certain;
	const struct degree *nodes = waits_for(c, &certain);
	struct finding *f;

	if (!nodes)
		return;
	f = report_container(
		run, c, nodes->node,
		"container `%s` waits for %s, but the next pod is created only after this one is ready",
		container_title(c), rule_count(run, nodes->n, "node"));
	if (certain)
		return;
	finding_severity(f, SEVERITY_INFO);
	finding_help(
		run, f,
		"Set `podManagementPolicy: Parallel` if the probed endpoint waits for the other pods.");
}

/* True if the container is ready only after the workers have joined: a server
 * of several nodes, or vLLM's script for the leader, which starts the server
 * after all nodes of Ray have joined. */
static bool waits_for_workers(const struct container *c)
{
	struct parallel_list list = container_parallel(c);

	if (!asks_port(c, true))
		return false;
	for (size_t i = 0; i < list.n; i++) {
		const struct degree *nodes =
			&list.items[i].degrees[DEGREE_NODES];

		if (list.items[i].type == PARALLEL_SERVER && nodes->given &&
		    (nodes->n > 1 || nodes->unknown))
			return true;
	}
	return container_says(c, "multi-node-serving.sh leader");
}

static void check_leader(struct rule_run *run, const struct pod *pod)
{
	const struct node *spec = node_get(pod->object->root, "spec");
	const struct node *template = node_get(spec, "leaderWorkerTemplate");
	const struct node *policy = node_get(spec, "startupPolicy");
	int64_t size;

	if (!node_eq(policy, "LeaderReady") ||
	    !node_int(node_get(template, "size"), &size) || size < 2 ||
	    (strcmp(pod->role, "leader") != 0 &&
	     !node_is_unset(node_get(template, "leaderTemplate"))))
		return;
	FOR_EACH_CONTAINER(pod, c)
		if (c->role == CONTAINER_MAIN && waits_for_workers(c))
			report_container(
				run, c, policy,
				"container `%s` of the leader waits for the workers, but they are created only when it is ready",
				container_title(c));
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct node *policy;

	if (object_is(pod->object, "leaderworkerset.x-k8s.io",
		      "LeaderWorkerSet"))
		check_leader(run, pod);
	if (pod->steady.n < 2 || !object_is(pod->object, "apps", "StatefulSet"))
		return;
	policy = node_path(pod->object->root, "spec.podManagementPolicy");
	if (!node_is_unset(policy) && !node_eq(policy, "OrderedReady"))
		return;
	FOR_EACH_CONTAINER(pod, c)
		if (c->gpus.n > 0 &&
		    !node_is_unset(node_get(c->node, "readinessProbe")))
			check_ranks(run, c);
}

const struct rule rule_statefulset_orderedready_gang = {
	.name = "statefulset-orderedready-gang",
	.category = "gang",
	.severity = SEVERITY_WARNING,
	.flags = RULE_ABSENCE,
	.summary = "ranks that are created only after another one is ready",
	.why = "A rank becomes ready only after all ranks have connected, but the next rank is created only after this one is ready: the workload never starts.",
	.remedy =
		"Set podManagementPolicy: Parallel, or startupPolicy: LeaderCreated in a LeaderWorkerSet.",
	.evidence =
		"https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#pod-management-policies; https://github.com/kubernetes-sigs/lws/issues/401",
	.check_pod = check,
};
