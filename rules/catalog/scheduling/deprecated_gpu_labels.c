/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports labels that gpu-feature-discovery, AKS and AMD have replaced. GKE's
 * label for preemptible nodes is not reported, because these nodes have it and
 * not the label of spot nodes.
 */
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "engine/rule.h"
#include "kube/scheduling/affinity.h"

#define LABEL(old_, now_)                                                      \
	{                                                                      \
		old_, now_, sizeof(old_) - 1                                   \
	}

static const struct {
	const char *old, *now;
	size_t len; /* length of the old label */
} labels[] = {
	LABEL("nvidia.com/cuda.driver.major",
	      "nvidia.com/cuda.driver-version.major"),
	LABEL("nvidia.com/cuda.driver.minor",
	      "nvidia.com/cuda.driver-version.minor"),
	LABEL("nvidia.com/cuda.driver.rev",
	      "nvidia.com/cuda.driver-version.revision"),
	LABEL("nvidia.com/cuda.runtime.major",
	      "nvidia.com/cuda.runtime-version.major"),
	LABEL("nvidia.com/cuda.runtime.minor",
	      "nvidia.com/cuda.runtime-version.minor"),
	LABEL("accelerator", "kubernetes.azure.com/accelerator"),
	LABEL("beta.amd.com/gpu.family", "amd.com/gpu.family"),
	LABEL("beta.amd.com/gpu.device-id", "amd.com/gpu.device-id"),
	LABEL("beta.amd.com/gpu.product-name", "amd.com/gpu.product-name"),
};

static const char *replaced_by(const struct node_need *need)
{
	size_t len = strlen(need->key), i = 0;

	while (i < ARRAY_SIZE(labels) &&
	       (len != labels[i].len || memcmp(need->key, labels[i].old, len)))
		i++;
	if (i == ARRAY_SIZE(labels))
		return NULL;
	/* `accelerator` with the value nvidia is a label of AKS. */
	return !text_eq(need->key, "accelerator") ||
			       node_eq(node_need_value(need, 0), "nvidia")
		       ? labels[i].now
		       : NULL;
}

static void check(struct rule_run *run, const struct pod *pod)
{
	struct node_needs needs;

	needs = pod_node_needs(pod);
	for (size_t i = 0; i < needs.n; i++) {
		const char *now = replaced_by(&needs.items[i]);
		const char *key = needs.items[i].key;

		if (now)
			finding_help(
				run,
				report_pod(
					run, pod, needs.items[i].at,
					text_eq(key, "accelerator")
						? "label `%s` with value `nvidia` is deprecated on AKS: `%s` replaces it"
						: "label `%s` is deprecated: `%s` replaces it",
					key, now),
				"Select by `%s`.", now);
	}
}

const struct rule rule_deprecated_gpu_labels = {
	.name = "deprecated-gpu-labels",
	.category = "scheduling",
	.severity = SEVERITY_INFO,
	.flags = RULE_PREVIEW,
	.scope = GPU_PODS,
	.summary = "a pod selects nodes by a label that has been replaced",
	.why = "Nodes with newer software may not have the label: the pods fit fewer and fewer nodes and finally none.",
	.remedy = "Select nodes by the replacement label.",
	.evidence =
		"https://github.com/NVIDIA/k8s-device-plugin/tree/main/docs/gpu-feature-discovery; https://learn.microsoft.com/azure/aks/use-labels",
	.check_pod = check,
};
