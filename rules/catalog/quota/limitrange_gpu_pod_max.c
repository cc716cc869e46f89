/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports LimitRanges of type Pod with a GPU in max, min or
 * maxLimitRequestRatio, which forbid every pod without a GPU: the constraint
 * fails if the limit is absent, and type Pod has no defaults. Source:
 * plugin/pkg/admission/limitranger maxConstraint, minConstraint.
 */
#include "base/array.h"
#include "base/text.h"
#include "engine/rule.h"

static const char *const lists[] = {"max", "min", "maxLimitRequestRatio"};

static void check_item(struct rule_run *run, const struct object *o,
		       const struct node *item)
{
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		FOR_EACH_CHILD(node_get(item, lists[i]), entry)
			if (accelerator_find(rule_accelerators(run),
					     entry->key))
				report_object(
					run, o, entry,
					"`%s` of `%s` for type Pod forbids every pod in the namespace that requests none",
					lists[i], entry->key);
}

static void check(struct rule_run *run, const struct object *o)
{
	if (!object_is(o, "", "LimitRange"))
		return;
	FOR_EACH_CHILD(node_path(o->root, "spec.limits"), item)
		if (node_eq(node_get(item, "type"), "Pod"))
			check_item(run, o, item);
}

const struct rule rule_limitrange_gpu_pod_max = {
	.name = "limitrange-gpu-pod-max",
	.category = "quota",
	.severity = SEVERITY_ERROR,
	.summary = "a LimitRange of type Pod forbids all pods without GPUs",
	.why = "The constraint fails if the resource is absent, and type Pod has no defaults: every CPU pod in the namespace is rejected.",
	.remedy =
		"Remove the entry, and limit GPUs with a ResourceQuota or the rule gpu-count-max.",
	.evidence =
		"https://github.com/kubernetes/kubernetes/tree/master/plugin/pkg/admission/limitranger maxConstraint",
	.check_object = check,
};
