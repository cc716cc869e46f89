/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports GPU pods without the labels for cost allocation. A label of the
 * object counts as well. The rule is off until the policy lists the labels.
 */
#include <string.h>

#include "engine/rule.h"

static void check_label(struct rule_run *run, const struct pod *pod,
			const char *key)
{
	struct finding *f;

	if (pod_label(pod, key) || object_label(pod->object, key))
		return;
	f = report_pod(run, pod, NULL, "%s has no label `%s`",
		       rule_title(run, pod->object->kind, pod->object->name),
		       key);
	finding_cause(run, f, key);
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const char *rest = rule_param(run, "labels");

	if (pod->object->parent)
		return;
	while (*(rest += strspn(rest, " ,"))) {
		size_t n = strcspn(rest, " ,");

		check_label(run, pod, arena_strndup(rule_arena(run), rest, n));
		rest += n;
	}
}

static const struct rule_param params[] = {
	{"labels", "string", "",
	 "label keys that GPU workloads must have, "
	 "KEY,..."},
	{0},
};

const struct rule rule_cost_labels_missing = {
	.name = "cost-labels-missing",
	.category = "governance",
	.severity = SEVERITY_WARNING,
	.needs = NEEDS_PARAM,
	.flags = RULE_PREVIEW | RULE_ABSENCE,
	.scope = GPU_PODS,
	.summary = "GPU pods without the cost labels that the policy requires",
	.why = "The GPU hours of the pods cannot be attributed to a team.",
	.remedy = "Set the label on the object or in its pod template.",
	.evidence = "https://www.opencost.io/docs/specification",
	.params = params,
	.check_pod = check,
};
