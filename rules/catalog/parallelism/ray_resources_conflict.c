/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ValidateRayClusterSpec of KubeRay.
 */
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/lifecycle/lifecycle.h"
#include "kube/operators/ray.h"

static void check_twice(struct rule_run *run, const struct pod *pod)
{
	static const char *const names[] = {"num-cpus", "num-gpus", "memory",
					    "resources", NULL};
	const struct node *params = node_get(pod->group, "rayStartParams");

	if (!node_count(node_get(pod->group, "resources")))
		return;
	for (const char *const *name = names; *name; name++) {
		const struct node *at = node_get(params, *name);

		if (!node_str(at) || !*node_str(at))
			continue;
		report_pod(
			run, pod, at,
			"KubeRay rejects `%s` in rayStartParams together with the group's `resources`",
			*name);
		return;
	}
}

static void check_restart(struct rule_run *run, const struct pod *pod,
			  const struct node *cluster)
{
	const struct node *policy = node_get(pod->spec, "restartPolicy");

	if (!node_is_true(node_get(cluster, "enableInTreeAutoscaling")) ||
	    !node_eq(node_path(cluster, "autoscalerOptions.version"), "v2") ||
	    !node_str(policy) || node_eq(policy, "Never"))
		return;
	report_pod(run, pod, policy,
		   "KubeRay rejects `restartPolicy: %s` with autoscaler v2",
		   node_str(policy));
}

static void check_suspend(struct rule_run *run, const struct pod *pod,
			  const struct node *cluster)
{
	const struct node *suspend = node_get(pod->group, "suspend");

	if (node_is_true(suspend) &&
	    node_is_true(node_get(cluster, "enableInTreeAutoscaling")))
		report_pod(
			run, pod, suspend,
			"KubeRay does not suspend a worker group of a cluster with autoscaling");
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct node *cluster, *labels;

	if (!text_eq(pod->object->group, "ray.io") ||
	    !strcmp(pod->role, "submitter") || !object_gpu_pod(pod->object))
		return;
	cluster = pod_ray_cluster(pod);
	labels = node_path(pod->group, "rayStartParams.labels");
	check_twice(run, pod);
	check_restart(run, pod, cluster);
	check_suspend(run, pod, cluster);
	if (!node_is_unset(labels))
		report_pod(run, pod, labels,
			   "KubeRay rejects `labels` in rayStartParams");
}

const struct rule rule_ray_resources_conflict = {
	.name = "ray-resources-conflict",
	.category = "parallelism",
	.severity = SEVERITY_ERROR,
	.since = "1.0",
	.summary = "a Ray cluster with settings that KubeRay rejects",
	.why = "The object is accepted but nothing starts; KubeRay reports the reason only in an event.",
	.remedy = "Change or remove the field named in the message.",
	.evidence =
		"https://github.com/ray-project/kuberay/blob/master/ray-operator/controllers/ray/utils/validation.go",
	.check_pod = check,
};
