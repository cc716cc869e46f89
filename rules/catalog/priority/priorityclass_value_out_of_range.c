/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports PriorityClasses that the API server rejects (a value above
 * 1,000,000,000, or a name that begins with system-), and classes of GPU pods
 * with values below -10, for which the Cluster Autoscaler treats pods as
 * expendable: it adds no nodes for them and removes nodes on which they run
 * (its FAQ, --expendable-pods-priority-cutoff).
 */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/lifecycle/lifecycle.h"

#define HIGHEST_USER_PRIORITY 1000000000
#define EXPENDABLE_BELOW      -10

static void check(struct rule_run *run, const struct object *o)
{
	const struct node *value = node_get(o->root, "value");
	int64_t n;

	if (!object_is(o, "scheduling.k8s.io", "PriorityClass"))
		return;
	if (text_starts(o->name, "system-") &&
	    !priority_class_is_system(o->name))
		report_object(
			run, o, NULL,
			"PriorityClass `%s` begins with the reserved prefix `system-`: the API server rejects it",
			o->name);
	if (node_int(value, &n) && n > HIGHEST_USER_PRIORITY &&
	    !priority_class_is_system(o->name))
		report_object(
			run, o, value,
			"PriorityClass `%s` has value %s, above the maximum 1000000000: the API server rejects it",
			o->name ? o->name : "", rule_number(run, n));
}

static void check_expendable(struct rule_run *run)
{
	const struct object_index *index = rule_index(run);

	for (size_t i = 0; i < index->nclasses; i++) {
		const struct priority_class *c = &index->classes[i];

		if (c->value.unknown || c->value.n >= EXPENDABLE_BELOW ||
		    !c->used_by_gpu)
			continue;
		finding_severity(
			report_place(
				run, &c->id, &c->value_place,
				"PriorityClass `%s` has value %s: below -10 the Cluster Autoscaler adds no nodes for its GPU pods",
				c->id.name, rule_number(run, c->value.n)),
			SEVERITY_WARNING);
	}
}

const struct rule rule_priorityclass_value_out_of_range = {
	.name = "priorityclass-value-out-of-range",
	.category = "priority",
	.severity = SEVERITY_ERROR,
	.summary =
		"a PriorityClass whose value or name the API server rejects, or that the autoscaler treats as expendable",
	.why = "The API server rejects a class with a value above 1000000000 or a reserved name. Below -10, the Cluster Autoscaler adds no nodes for the pods, so they may wait forever.",
	.remedy =
		"Use a value from -10 to 1000000000 and a name without the prefix system-.",
	.evidence =
		"https://github.com/kubernetes/kubernetes/tree/master/pkg/apis/scheduling/validation; https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/FAQ.md, expendable pods; observed on kube-apiserver 1.37.2",
	.check_object = check,
	.check_set = check_expendable,
};
