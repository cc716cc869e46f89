/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports gangs whose pods have different priority classes, or another class
 * than their PodGroup. If a part of the gang is preempted because of its lower
 * priority, the other pods hold their GPUs without use. The class in a Kubeflow
 * schedulingPolicy is set in the PodGroup only, not in the Pods. Source:
 * training-operator pkg/controller.v1/common/scheduling.go.
 */
#include <string.h>

#include "engine/rule.h"
#include "kube/lifecycle/lifecycle.h"
#include "kube/purpose/purpose.h"

/* True for a pod of the gang. The launcher belongs to it, with or without a
 * device. */
static bool is_in_gang(const struct pod *pod)
{
	return pod_uses_gpu(pod) == TRI_YES || pod_is_launcher(pod);
}

static bool check_roles(struct rule_run *run, const struct object *o)
{
	const struct node *first = NULL;

	FOR_EACH_POD(o, pod) {
		const struct node *at = pod_priority_class(pod);
		struct finding *f;

		if (!is_in_gang(pod) || !node_str(at))
			continue;
		if (!first) {
			first = at;
			continue;
		}
		if (!strcmp(node_str(first), node_str(at)))
			continue;
		f = report_pod(
			run, pod, at,
			"the `%s` pods have priority class `%s`, but other pods of the same gang have `%s`",
			pod->role, node_str(at), node_str(first));
		finding_label(run, f, first, "the other class");
		return true;
	}
	return false;
}

static void check_group(struct rule_run *run, const struct object *o)
{
	bool volcano = object_is(o, "batch.volcano.sh", "Job");
	const struct node *group = node_path(
		o->root,
		volcano ? "spec.priorityClassName"
			: "spec.runPolicy.schedulingPolicy.priorityClass");

	if (!node_str(group))
		return;
	FOR_EACH_POD(o, pod) {
		const struct node *at = pod_priority_class(pod);
		struct finding *f;

		if (!is_in_gang(pod) || !node_str(at) ||
		    !strcmp(node_str(group), node_str(at)))
			continue;
		f = report_pod(
			run, pod, at,
			"the pods have priority class `%s`, but their PodGroup has `%s`",
			node_str(at), node_str(group));
		finding_label(run, f, group, "the PodGroup's class");
		return;
	}
}

static void check(struct rule_run *run, const struct object *o)
{
	if (o->gang_kind == GANG_NONE || o->npods < 2 || !check_roles(run, o))
		check_group(run, o);
}

const struct rule rule_gang_priority_mismatch = {
	.name = "gang-priority-mismatch",
	.category = "priority",
	.severity = SEVERITY_WARNING,
	.summary =
		"pods of one gang, or the pods and their PodGroup, have different priority classes",
	.why = "Part of the gang can be preempted while the rest keeps its GPUs and waits.",
	.remedy = "Use one priority class for all roles and for the PodGroup.",
	.evidence =
		"https://github.com/kubeflow/trainer/tree/release-1.9/pkg/controller.v1/common; Volcano PodGroup priorityClassName",
	.check_object = check,
};
