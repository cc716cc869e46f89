/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports replica types of PyTorchJobs with 0 replicas.
 *
 * Source: webhook of training-operator 1.9 (replicas must be at least 1).
 */
#include "engine/rule.h"
#include "kube/object.h"

static void check(struct rule_run *run, const struct object *object)
{
	const struct node *roles;

	if (!object_is(object, "kubeflow.org", "PyTorchJob"))
		return;
	roles = node_path(object->root, "spec.pytorchReplicaSpecs");
	FOR_EACH_CHILD(roles, role) {
		const struct node *replicas = node_get(role, "replicas");
		int64_t n;

		if (node_int(replicas, &n) && !n)
			report_object(
				run, object, replicas,
				"`%s` has 0 replicas: the training operator rejects the job or, before 1.9, starts one pod",
				role->key);
	}
}

const struct rule rule_pytorchjob_worker_zero = {
	.name = "pytorchjob-worker-zero",
	.category = "gang",
	.severity = SEVERITY_WARNING,
	.summary = "a replica type of a PyTorchJob with 0 replicas",
	.why = "Since 1.9 the training operator rejects the job; earlier releases start one pod anyway.",
	.remedy = "Remove the replica type.",
	.evidence = "https://github.com/kubeflow/trainer/issues/1709",
	.check_object = check,
};
