/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports pods of one template that a required anti-affinity by hostname keeps
 * on different nodes, although two of them fit on a node. Pods with host ports
 * are skipped, because they cannot share a node in any case.
 */
#include "engine/rule.h"
#include "kube/scheduling/affinity.h"
#include "kube/scheduling/node_devices.h"

static bool has_host_port(const struct pod *pod)
{
	const struct node *host = pod_field(pod, "hostNetwork");

	if (node_is_true(host) || node_is_unknown(host))
		return true;
	FOR_EACH_CONTAINER(pod, c)
		FOR_EACH_CHILD(node_get(c->node, "ports"), port)
			if (!node_is_unset(node_get(port, "hostPort")))
				return true;
	return false;
}

/* True if the selected nodes have devices for only one pod. */
static bool fits_once(const struct pod *pod)
{
	int64_t most = pod_node_devices(pod).most;

	return most && pod->gpus.n * 2 > most;
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct node *at;

	if (pod->steady.n < 2 || pod->gpus.unknown || pod->gpus.n < 1 ||
	    pod->gpus.n * 2 > rule_param_int(run, "node"))
		return;
	at = pod_keeps_apart(pod);
	if (at && !has_host_port(pod) && !fits_once(pod))
		report_pod(
			run, pod, at,
			"a required anti-affinity keeps %s with %s each on different nodes: if there are fewer nodes, some pods stay Pending",
			rule_count(run, pod->steady.n, "pod"),
			rule_count(run, pod->gpus.n, pod_device(pod)));
}

static const struct rule_param params[] = {
	{"node", "int", "8", "accelerators of a typical node of the site"},
	{0},
};

const struct rule rule_anti_affinity_wastes_gpus = {
	.name = "anti-affinity-wastes-gpus",
	.category = "scheduling",
	.severity = SEVERITY_INFO,
	.flags = RULE_PREVIEW,
	.scope = GPU_PODS | PODSPEC,
	.summary =
		"pods that use at most half of a node's GPUs may not share a node",
	.why = "No more of these pods run than there are nodes, no matter how many GPUs are free. Autoscalers add a node per pod, and the other GPUs of the node are idle unless other workloads use them.",
	.remedy =
		"Prefer spreading the pods (preferredDuringScheduling..., topologySpreadConstraints) instead of requiring it.",
	.evidence =
		"https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/#inter-pod-affinity-and-anti-affinity",
	.params = params,
	.check_pod = check,
};
