/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports training pods with eight or more GPUs that request no fast network.
 * Any request for a network, a resource claim or hostNetwork counts, and so
 * does a privileged container, which has the host's /dev/infiniband. Pods that
 * do not need each other, like the tasks of a Volcano Job with minAvailable: 1,
 * communicate little and are skipped.
 */
#include <string.h>

#include "engine/rule.h"

enum { WHOLE_NODE = 8 };

static bool has_network(const struct pod *pod)
{
	static const char *const annotations[] = {
		"networking.gke.io/interfaces", "k8s.v1.cni.cncf.io/networks",
		"networking.gke.io/default-interface",
		"v1.multus-cni.io/default-network", NULL};
	const struct node *host = pod_field(pod, "hostNetwork");

	for (const char *const *key = annotations; *key; key++)
		if (pod_annotation(pod, *key))
			return true;
	if (node_is_true(host) || node_is_unknown(host) ||
	    !node_is_unset(pod_field(pod, "resourceClaims")))
		return true;
	FOR_EACH_CONTAINER(pod, c) {
		if (node_is_true(node_get(node_get(c->node, "securityContext"),
					  "privileged")))
			return true;
		FOR_EACH_ASKED(c, entry)
			if (fabric_resource(entry->node->key))
				return true;
	}
	return false;
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct object *object = pod->object;

	if (object->class != KIND_TRAINING || object->fragment ||
	    pod->gpus.unknown || pod->gpus.n < WHOLE_NODE ||
	    pod->steady.n < 2 || object->gang.n < 2 ||
	    strcmp(pod_device(pod), "GPU") != 0 || has_network(pod))
		return;
	report_pod(
		run, pod, NULL,
		"%s with %s each train over the pod network: if the nodes have a fast network (RDMA or EFA), it is not used",
		rule_count(run, pod->steady.n, "pod"),
		rule_count(run, pod->gpus.n, "GPU"));
}

const struct rule rule_multi_node_without_fabric = {
	.name = "multi-node-without-fabric",
	.category = "network",
	.severity = SEVERITY_INFO,
	.flags = RULE_PREVIEW | RULE_ABSENCE,
	.scope = GPU_PODS | PODSPEC,
	.summary =
		"pods with eight or more GPUs train together without a fast network",
	.why = "Collectives between nodes run over the pod network: GPUs often wait for it longer than they compute.",
	.remedy =
		"Request the fast network of the nodes, for example rdma/..., vpc.amazonaws.com/efa or GKE's multi-networking.",
	.evidence =
		"https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html; https://cloud.google.com/ai-hypercomputer/docs/create/gke-ai-hypercompute-custom",
	.check_pod = check,
};
