/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports pods that select GPU nodes and request no GPU: either the limit was
 * forgotten (see gpu-limit-missing), or the pod uses cores of GPU nodes on
 * purpose. Skips leaders that must be in the node pool of their workers, and
 * pods that need those nodes for another resource or for files on them.
 */
#include "engine/rule.h"
#include "kube/purpose/purpose.h"
#include "kube/scheduling/node_devices.h"

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct node *at;

	if (!pod_has_placement(pod) || pod_uses_gpu(pod) != TRI_NO ||
	    pod_is_empty(pod) || pod_is_preset(pod) ||
	    pod->object->class == KIND_DAEMON || pod_follows_devices(pod))
		return;
	at = pod_gpu_selector(pod, NULL);
	if (!at || node_is_unknown(at) || !pod_wrote(pod, at) ||
	    pod_needs_its_nodes(pod))
		return;
	report_pod(
		run, pod, at,
		"the pods select nodes with accelerators (`%s`) but request none",
		gpu_selector_key(at));
}

/* Rules that report why no GPU is counted: it is not requested, misspelled,
 * requested in the wrong place, or mounted from the host. */
static const char *const yields_to[] = {
	"gpu-limit-missing",
	"gpu-resource-name-unknown",
	"gpu-pod-level-resource",
	"nvidia-device-mount-bypass",
	NULL,
};

const struct rule rule_cpu_pod_selects_gpu_node = {
	.name = "cpu-pod-selects-gpu-node",
	.category = "scheduling",
	.severity = SEVERITY_WARNING,
	.flags = RULE_ABSENCE,
	.summary = "a pod selects nodes with accelerators but requests none",
	.why = "The pod takes CPU cores and memory that pods with accelerators need.",
	.remedy = "Request the accelerator, or remove the selector.",
	.evidence =
		"https://github.com/NVIDIA/k8s-device-plugin/tree/main/docs/gpu-feature-discovery; cloud providers' accelerator labels",
	.yields_to = yields_to,
	.check_pod = check,
};
