/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports extended resources, such as accelerators, in the `resources` of a pod
 * itself. These may contain only cpu, memory and hugepages, and the API server
 * rejects others ("Unsupported value: "nvidia.com/gpu"").
 *
 * Source: pkg/apis/core/validation validatePodResourceName.
 */
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"

static void check_map(struct rule_run *run, const struct pod *pod,
		      const struct node *map, const struct node *other)
{
	if (!node_is_map(map))
		return;
	FOR_EACH_CHILD(map, value) {
		struct finding *f;

		if (!strchr(value->key, '/') || node_get(other, value->key) ||
		    node_is_unset(value))
			continue;
		f = report_pod(
			run, pod, value,
			"`%s` is set in pod-level resources, which allow only cpu, memory and hugepages",
			value->key);
		finding_at_key(run, f, value);
		finding_cause(run, f, value->key);
		finding_help(run, f,
			     "Move it into the `resources.limits` of the "
			     "container that uses it.");
	}
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct node *resources = node_get(pod->spec, "resources");
	const struct node *limits = node_get(resources, "limits");

	/* If the template is itself a container, these are the container's
	 * resources. */
	if (pod->flat || !node_is_seq(node_get(pod->spec, "containers")))
		return;
	check_map(run, pod, limits, NULL);
	check_map(run, pod, node_get(resources, "requests"), limits);
}

const struct rule rule_gpu_pod_level_resource = {
	.name = "gpu-pod-level-resource",
	.category = "resources",
	.severity = SEVERITY_ERROR,
	.flags = RULE_INFRASTRUCTURE,
	.summary =
		"an accelerator, or another extended resource, in pod-level resources",
	.why = "Pod-level resources allow only cpu, memory and hugepages; the API server rejects the pod.",
	.remedy = "Request the resource in the container that uses it.",
	.evidence =
		"https://github.com/kubernetes/kubernetes/tree/master/pkg/apis/core/validation validatePodResourceName; observed on kube-apiserver 1.37.2",
	.check_pod = check,
};
