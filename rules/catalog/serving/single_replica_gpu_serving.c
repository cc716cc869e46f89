/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports production model servers with one replica. Production is recognized
 * by a label for the environment. Deployments and StatefulSets that do not set
 * `replicas` are skipped, because an autoscaler may set it.
 */
#include "engine/rule.h"
#include "kube/purpose/purpose.h"

static const struct node *production(const struct object *object)
{
	static const char *const keys[] = {
		"env", "environment", "app.kubernetes.io/environment", NULL};

	for (const char *const *key = keys; *key; key++) {
		const struct node *value = object_label(object, *key);

		if (node_eq(value, "prod") || node_eq(value, "production"))
			return value;
	}
	return NULL;
}

/* True for kinds made for serving, and for others that run indefinitely and set
 * `replicas`. False for Ray, whose replicas are not pods. */
static bool has_replicas(const struct object *object)
{
	return object->class == KIND_SERVING ||
	       (object->class == KIND_SERVICE &&
		!node_is_unset(node_path(object->root, "spec.replicas")));
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct node *label;

	if (pod->steady.unknown || pod->steady.n != 1 ||
	    !has_replicas(pod->object) || !pod_is_serving(pod))
		return;
	label = production(pod->object);
	if (label)
		report_pod(
			run, pod, label,
			"only one replica serves in production: a drain or the loss of its node leaves none");
}

const struct rule rule_single_replica_gpu_serving = {
	.name = "single-replica-gpu-serving",
	.category = "serving",
	.severity = SEVERITY_INFO,
	.flags = RULE_PREVIEW,
	.scope = GPU_PODS,
	.summary = "a production model server with one replica",
	.why = "After a drain or the loss of the node, no replica answers until the model is loaded again.",
	.remedy = "Run two or more replicas.",
	.evidence =
		"https://kubernetes.io/docs/concepts/workloads/pods/disruptions/",
	.check_pod = check,
};
