/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports gangs whose pods name different schedulers. If a template names none,
 * the operator sets the scheduler of the gang.
 */
#include "engine/rule.h"
#include "kube/lifecycle/lifecycle.h"
#include "kube/operators.h"

static const struct node *scheduler(const struct pod *pod)
{
	const struct node *name = pod_field(pod, "schedulerName");

	return node_str(name) && *node_str(name) ? name : NULL;
}

static void check(struct rule_run *run, const struct object *object)
{
	const struct node *first = NULL;

	/* Kueue does not schedule pods itself; mpi-operator overwrites both
	 * names with its scheduler (pkg/controller/podgroup.go
	 * decoratePodTemplateSpec). */
	if (object->gang.n < 2 || object->class == KIND_RAY ||
	    object->gang_kind != GANG_OPERATOR || object->kueue ||
	    object_is_mpi_v2(object))
		return;
	FOR_EACH_POD(object, pod) {
		const struct node *name = scheduler(pod);
		struct finding *f;

		if (!name || pod->flat || pod_uses_gpu(pod) != TRI_YES)
			continue;
		if (!first) {
			first = name;
			continue;
		}
		if (node_eq(name, node_str(first)))
			continue;
		f = report_object(
			run, object, name,
			"schedulers `%s` and `%s` both place pods of one gang",
			node_str(first), node_str(name));
		finding_label(run, f, first, "the other scheduler");
		return;
	}
}

const struct rule rule_gang_scheduler_name_conflict = {
	.name = "gang-scheduler-name-conflict",
	.category = "gang",
	.severity = SEVERITY_WARNING,
	.flags = RULE_PREVIEW,
	.scope = GPU_PODS,
	.summary = "the pods of one gang name different schedulers",
	.why = "No scheduler sees the whole gang: each places its own pods, or waits for the others.",
	.remedy =
		"Name the same scheduler in all templates, or in none of them.",
	.evidence =
		"https://github.com/kubeflow/training-operator/blob/v1.9.0/pkg/controller.v1/common/pod.go",
	.check_object = check,
};
