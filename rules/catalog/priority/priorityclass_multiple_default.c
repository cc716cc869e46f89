/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports a second PriorityClass with globalDefault. The admission plugin
 * rejects it, but if two are created at the same time, both are accepted, and
 * the one with the lowest value applies. Source: plugin/pkg/admission/priority
 * getDefaultPriorityClass.
 */
#include "base/text.h"
#include "engine/rule.h"

static void report_second(struct rule_run *run, const struct priority_class *c,
			  const struct priority_class *other, const char *where)
{
	struct finding *f = report_place(
		run, &c->id, &c->default_place,
		"PriorityClasses `%s` and `%s`%s are both globalDefault: the API server rejects the second one",
		c->id.name, other->id.name, where);

	finding_label_place(run, f, &other->default_place,
			    "the other globalDefault");
}

static void check(struct rule_run *run)
{
	const struct object_index *index = rule_index(run);
	const struct priority_class *first = NULL, *deployed;

	for (size_t i = 0; i < index->nclasses; i++) {
		const struct priority_class *c = &index->classes[i];
		const struct workload w = {
			.id = c->id, .cluster = c->cluster, .place = c->place};

		if (!c->global_default)
			continue;
		if (!first || first->cluster != c->cluster ||
		    first->set != c->set)
			first = index_default_class(index, &w);
		deployed = index_cluster_default(index, &w);
		/* A class defined in two files counts once. */
		if (!text_eq(c->id.name, first->id.name))
			report_second(run, c, first, "");
		else if (deployed)
			report_second(run, c, deployed, " of the cluster");
	}
}

const struct rule rule_priorityclass_multiple_default = {
	.name = "priorityclass-multiple-default",
	.category = "priority",
	.severity = SEVERITY_ERROR,
	.needs = NEEDS_SET,
	.summary = "more than one PriorityClass is globalDefault",
	.why = "The API server rejects the second one; if both exist, pods without a class silently get the lower value.",
	.remedy = "Set globalDefault: true on only one class.",
	.evidence =
		"https://github.com/kubernetes/kubernetes/tree/master/plugin/pkg/admission/priority validatePriorityClass, getDefaultPriorityClass",
	.check_set = check,
};
