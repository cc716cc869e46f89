/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports servers and notebooks that autoscalers may not evict. Skips
 * durations, which end by themselves, Jobs that start a server for their own
 * work, which end, Pods without a controller, and DaemonSets, whose pods never
 * block the Cluster Autoscaler (simulator/drainability/rules: it checks
 * DaemonSets before the annotation). The eviction API, and hence kubectl drain,
 * ignores the annotations.
 */
#include "base/array.h"
#include "engine/rule.h"
#include "kube/purpose/purpose.h"

static const struct {
	const char *key, *value, *reader;
} annotations[] = {
	{"cluster-autoscaler.kubernetes.io/safe-to-evict", "false",
	 "Cluster Autoscaler"},
	{"karpenter.sh/do-not-disrupt", "true", "Karpenter"},
	{"karpenter.sh/do-not-evict", "true", "Karpenter"},
};

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct object *object = pod->object;

	if (object->class != KIND_INTERACTIVE &&
	    (object->class == KIND_POD || object->class == KIND_BATCH ||
	     object->class == KIND_DAEMON || !pod_is_serving(pod)))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(annotations); i++) {
		const struct node *at = pod_annotation(pod, annotations[i].key);

		if (!node_eq(at, annotations[i].value))
			continue;
		report_pod(
			run, pod, at,
			"`%s: %s` keeps %s from draining the node as long as the pod runs",
			annotations[i].key, annotations[i].value,
			annotations[i].reader);
		return;
	}
}

const struct rule rule_do_not_disrupt_on_serving = {
	.name = "do-not-disrupt-on-serving",
	.category = "spot",
	.severity = SEVERITY_WARNING,
	.flags = RULE_PREVIEW,
	.scope = GPU_PODS,
	.summary = "a server or a notebook that autoscalers may not evict",
	.why = "An underused node is not removed while the pod runs. Karpenter also does not replace the node for updates, unless its NodeClaim has a terminationGracePeriod. A server keeps its node indefinitely, a notebook until it is stopped.",
	.remedy =
		"Remove the annotation, or give Karpenter 1.12 or later a duration (karpenter.sh/do-not-disrupt: \"4h\"). Use a PodDisruptionBudget to keep replicas available.",
	.evidence =
		"https://karpenter.sh/docs/concepts/disruption/#pod-level-controls; https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/FAQ.md",
	.check_pod = check,
};
