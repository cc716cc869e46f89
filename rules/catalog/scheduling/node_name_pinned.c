/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports nodeName, and selectors and required affinities that only one node
 * meets, by its name or hostname. Skips nodeName in Pods that were exported
 * from a cluster, because the scheduler has set it. They are recognized by
 * resourceVersion or by conditions: the API server sets PodScheduled together
 * with nodeName (pkg/registry/core/pod/storage, BindingREST).
 */
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/scheduling/affinity.h"

/* Returns the node's name in the only term of the required affinity, or NULL.
 * kubernetes pkg/apis/core/validation allows only one value. */
static const struct node *pinned_field(const struct pod *pod)
{
	static const char path[] =
		"nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
		"nodeSelectorTerms";
	const struct node *terms = node_path(pod_field(pod, "affinity"), path);

	if (node_count(terms) != 1)
		return NULL;
	FOR_EACH_CHILD(node_get(node_at(terms, 0), "matchFields"), field)
		if (node_eq(node_get(field, "key"), "metadata.name") &&
		    node_eq(node_get(field, "operator"), "In"))
			return node_at(node_get(field, "values"), 0);
	return NULL;
}

static const struct node *pinned_name(const struct pod *pod)
{
	struct node_needs needs = pod_node_needs(pod);

	for (size_t i = 0; i < needs.n && needs.terms <= 1; i++) {
		const struct node_need *need = &needs.items[i];

		if (text_eq(need->key, "kubernetes.io/hostname") &&
		    node_need_requires(need) && !node_need_value(need, 1))
			return node_need_value(need, 0);
	}
	return pinned_field(pod);
}

static bool is_scheduled(const struct object *object)
{
	return object->class == KIND_POD &&
	       (node_path(object->root, "status.conditions") ||
		node_path(object->root, "metadata.resourceVersion"));
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct node *name = pod_field(pod, "nodeName");
	const struct node *label;

	/* A DaemonSet creates no pod for a node that does not exist. */
	if (pod->object->class == KIND_DAEMON)
		return;
	if (node_str(name) && !is_scheduled(pod->object)) {
		report_pod(
			run, pod, name,
			"`nodeName: %s` bypasses the scheduler: if the node has no free devices, the kubelet rejects the pods",
			node_str(name));
		return;
	}
	label = pinned_name(pod);
	if (node_str(label))
		report_pod(
			run, pod, label,
			"only node `%s` fits: if it is unavailable, the pods stay Pending",
			node_str(label));
}

const struct rule rule_node_name_pinned = {
	.name = "node-name-pinned",
	.category = "scheduling",
	.severity = SEVERITY_WARNING,
	.flags = RULE_PREVIEW,
	.scope = GPU_PODS | PODSPEC,
	.summary = "GPU pods are bound to one node by its name",
	.why = "If the node fails or its devices are in use, the pods cannot run on another node. With nodeName, which bypasses the scheduler, the kubelet rejects pods that need more devices than are free.",
	.remedy = "Select nodes by a label that describes their hardware.",
	.evidence =
		"https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/#nodename",
	.check_pod = check,
};
