/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports GPU work in the namespace `default`, which every cluster has. Only a
 * namespace set in the manifest counts. Queued work is skipped, because the
 * queue's quota limits it.
 */
#include "engine/rule.h"
#include "kube/lifecycle/lifecycle.h"

static void check(struct rule_run *run, const struct object *object)
{
	const struct node *at =
		node_get(node_get(object->root, "metadata"), "namespace");

	if (!object->parent && node_eq(at, "default") &&
	    object_gpu_pod(object) && !object_is_queued(object))
		report_object(run, object, at,
			      "%s runs in the namespace `default`",
			      rule_title(run, object->kind, object->name));
}

const struct rule rule_default_namespace_gpu = {
	.name = "default-namespace-gpu",
	.category = "governance",
	.severity = SEVERITY_INFO,
	.flags = RULE_PREVIEW,
	.scope = GPU_PODS,
	.summary = "GPU work in the namespace `default`",
	.why = "The namespace usually lacks a quota, an owner and a cost center, and many users may write to it.",
	.remedy = "Give the team a namespace with a GPU quota.",
	.evidence =
		"https://kubernetes.io/docs/concepts/overview/working-with-objects/namespaces/#initial-namespaces",
	.check_object = check,
};
