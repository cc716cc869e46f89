/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The limits of the webhooks of RayJob and RayCluster.
 */
#include "engine/rule.h"
#include "kube/operators/ray.h"

static const struct node *head_group(const struct node *cluster)
{
	FOR_EACH_CHILD(node_get(cluster, "workerGroupSpecs"), group)
		if (node_eq(node_get(group, "groupName"), "head"))
			return node_get(group, "groupName");
	return NULL;
}

static void check(struct rule_run *run, const struct object *object)
{
	const struct node *cluster = ray_cluster_spec(object);
	const struct node *scales =
		node_get(cluster, "enableInTreeAutoscaling");
	const struct node *selector =
		node_path(object->root, "spec.clusterSelector");

	if (!object->kueue || !cluster)
		return;
	/* With the selector alone it is not managed, and accepted. */
	if (node_count(selector) && node_count(cluster) && ray_job_spec(object))
		report_object(run, object, selector,
			      "Kueue refuses a RayJob with clusterSelector "
			      "beside rayClusterSpec");
	if (node_is_true(scales) &&
	    !object_annotation(object, "kueue.x-k8s.io/elastic-job"))
		report_object(run, object, scales,
			      "Kueue refuses a Ray cluster that autoscales "
			      "without the annotation "
			      "kueue.x-k8s.io/elastic-job");
	if (head_group(cluster))
		report_object(run, object, head_group(cluster),
			      "Kueue refuses a worker group named `head`");
}

const struct rule rule_kueue_unsupported_shape = {
	.name = "kueue-unsupported-shape",
	.category = "gang",
	.severity = SEVERITY_ERROR,
	.wants = FACT_RAY,
	.since = "1.0",
	.summary = "a Ray job that Kueue refuses",
	.why = "The webhook of Kueue rejects the object.",
	.remedy =
		"Remove the field that the message names, or the queue's label.",
	.evidence =
		"https://kueue.sigs.k8s.io/docs/tasks/run/rayjobs/#c-limitations",
	.check_object = check,
};
