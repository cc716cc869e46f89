/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports GPU pods on the host network. Ports of the host network belong to the
 * node. Skips pods that request eight or more GPUs, TPUs or a fast network,
 * that have a required anti-affinity, or that declare their ports: these become
 * hostPorts, so that the scheduler puts the pods on different nodes
 * (pkg/apis/core/v1/defaults.go, defaultHostNetworkPorts).
 */
#include "base/text.h"
#include "engine/rule.h"

enum { WHOLE_NODE = 8 };

static bool is_kept_apart(const struct pod *pod)
{
	const struct node *terms = node_path(
		pod_field(pod, "affinity"),
		"podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution");

	return node_is_unknown(terms) || node_count(terms) > 0;
}

/* True if the pod requests a fast network, which may need the host's network,
 * or TPUs, whose host runs only one pod. */
static bool may_need_host(const struct pod *pod)
{
	FOR_EACH_CONTAINER(pod, c)
		FOR_EACH_ASKED(c, entry)
			if (fabric_resource(entry->node->key) ||
			    (entry->accelerator &&
			     text_eq(entry->accelerator->vendor, "google")))
				return true;
	return false;
}

static bool declares_ports(const struct pod *pod)
{
	FOR_EACH_CONTAINER(pod, c)
		if (!node_is_unset(node_get(c->node, "ports")))
			return true;
	return false;
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct node *at = pod_field(pod, "hostNetwork");

	if (!node_is_true(at) || pod->gpus.unknown ||
	    pod->gpus.n >= WHOLE_NODE || pod->steady.n < 2 ||
	    is_kept_apart(pod) || may_need_host(pod) || declares_ports(pod))
		return;
	report_pod(
		run, pod, at,
		"%s share the ports of their nodes: if two on one node listen on the same port, they conflict",
		rule_count(run, pod->steady.n, "pod"));
}

const struct rule rule_hostnetwork_gpu = {
	.name = "hostnetwork-gpu",
	.category = "network",
	.severity = SEVERITY_INFO,
	.flags = RULE_PREVIEW,
	.scope = GPU_PODS | PODSPEC,
	.summary = "GPU pods with hostNetwork share the ports of their node",
	.why = "If two pods on a node use the same port, the second one crashes, or its ranks join the wrong job.",
	.remedy =
		"Remove hostNetwork, or keep the pods on different nodes with a required anti-affinity on the hostname.",
	.evidence =
		"https://kubernetes.io/docs/concepts/security/pod-security-standards/#baseline: host namespaces",
	.check_pod = check,
};
