/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The limits of the webhooks of RayJob, RayCluster and Job: pkg/controller/jobs
 * rayjob_webhook.go, raycluster_webhook.go, job_webhook.go
 * (validatePartialAdmissionCreate, validateSyncCompletionCreate). Read at
 * commit ff69552e (2026-08).
 */
#include <inttypes.h>
#include <stdlib.h>

#include "engine/rule.h"
#include "kube/operators/ray.h"

static const struct node *head_group(const struct node *cluster)
{
	FOR_EACH_CHILD(node_get(cluster, "workerGroupSpecs"), group)
		if (node_eq(node_get(group, "groupName"), "head"))
			return node_get(group, "groupName");
	return NULL;
}

static void check_partial(struct rule_run *run, const struct object *object)
{
	const struct node *at =
		object_annotation(object, "kueue.x-k8s.io/job-min-parallelism");
	const struct pod *pod = object->pods;
	char *end;
	long n;

	if (!node_str(at) || !object->npods)
		return;
	n = strtol(at->str, &end, 10);
	if (*end || !*at->str || n <= 0)
		report_object(
			run, object, at,
			"Kueue rejects `job-min-parallelism: %s`: the value must be 1 or more",
			at->str);
	else if (!pod->steady.unknown && n >= pod->steady.n)
		report_object(
			run, object, at,
			"Kueue rejects `job-min-parallelism: %ld`: the Job has %" PRId64
			" pods at once, and the value must be less",
			n, pod->steady.n);
}

static void check_completions(struct rule_run *run, const struct object *object)
{
	const struct node *at = object_annotation(
		object, "kueue.x-k8s.io/job-completions-equal-parallelism");
	const struct node *spec = node_get(object->root, "spec");
	const struct node *mode = node_get(spec, "completionMode");
	struct amount pods = amount_int(node_get(spec, "parallelism"), 1);
	struct amount ends = amount_int(node_get(spec, "completions"), 1);

	if (!node_eq(at, "true") || object->fragment)
		return;
	if (node_is_unset(mode) || node_eq(mode, "NonIndexed"))
		report_object(
			run, object, at,
			"Kueue rejects `job-completions-equal-parallelism` "
			"of a Job that is not Indexed");
	if (!pods.unknown && !ends.unknown && pods.n != ends.n)
		report_object(
			run, object, at,
			"Kueue rejects `job-completions-equal-parallelism` "
			"with %" PRId64 " completions and a parallelism of "
			"%" PRId64,
			ends.n, pods.n);
}

static void check(struct rule_run *run, const struct object *object)
{
	const struct node *cluster = ray_cluster_spec(object);
	const struct node *scales =
		node_get(cluster, "enableInTreeAutoscaling");
	const struct node *selector =
		node_path(object->root, "spec.clusterSelector");

	if (object_is(object, "batch", "Job")) {
		check_partial(run, object);
		check_completions(run, object);
	}
	if (!object->kueue || !cluster)
		return;
	/* With the selector alone it is not managed, and accepted. */
	if (node_count(selector) && node_count(cluster) && ray_job_spec(object))
		report_object(
			run, object, selector,
			"Kueue rejects a RayJob with both clusterSelector and rayClusterSpec");
	if (node_is_true(scales) &&
	    !object_annotation(object, "kueue.x-k8s.io/elastic-job"))
		report_object(
			run, object, scales,
			"Kueue rejects a Ray cluster with autoscaling but without the annotation kueue.x-k8s.io/elastic-job");
	if (head_group(cluster))
		report_object(run, object, head_group(cluster),
			      "Kueue rejects a worker group named `head`");
}

const struct rule rule_kueue_unsupported_shape = {
	.name = "kueue-unsupported-shape",
	.category = "gang",
	.severity = SEVERITY_ERROR,
	.since = "1.0",
	.summary = "a Job or a Ray job that Kueue rejects",
	.why = "Kueue's webhook rejects the object.",
	.remedy =
		"Change or remove the field named in the message, or remove the queue label.",
	.evidence =
		"https://kueue.sigs.k8s.io/docs/tasks/run/rayjobs/#c-limitations",
	.check_object = check,
};
