/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports GPU pods that share the process namespace of their node. Users set
 * hostPID so that nvidia-smi shows process ids. Source: Pod Security Standards,
 * baseline level.
 */
#include "engine/rule.h"

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct node *at = pod_field(pod, "hostPID");

	if (node_is_true(at))
		report_pod(
			run, pod, at,
			"`hostPID: true` lets %s pods see every process of their node, including processes of other tenants",
			pod_device(pod));
}

const struct rule rule_gpu_hostpid = {
	.name = "gpu-hostpid",
	.category = "security",
	.severity = SEVERITY_WARNING,
	.flags = RULE_PREVIEW,
	.scope = GPU_PODS,
	.summary = "GPU pods share the process namespace of their node",
	.why = "The pods see the processes of every other pod on the node, and may be able to read their environment variables, signal or trace them.",
	.remedy =
		"Remove hostPID. Without it, nvidia-smi still shows the processes of the container.",
	.evidence =
		"https://kubernetes.io/docs/concepts/security/pod-security-standards/#baseline: host namespaces",
	.check_pod = check,
};
