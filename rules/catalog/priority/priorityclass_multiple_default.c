/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Only one PriorityClass may be globalDefault. The admission plugin refuses a
 * second one, but two that are created at once both get in, and then the
 * lowest value wins.
 * Source: plugin/pkg/admission/priority getDefaultPriorityClass.
 */
#include "base/text.h"
#include "engine/rule.h"

static void check(struct rule_run *run)
{
	const struct fact_set *facts = rule_facts(run);
	const struct priority_class *first = facts->default_class;

	for (size_t i = 0; i < facts->nclasses; i++) {
		const struct priority_class *c = &facts->classes[i];
		struct finding *f;

		/* The same class in two files is no second one. */
		if (!c->global_default || text_eq(c->id.name, first->id.name))
			continue;
		f = report_place(
			run, &c->id, &c->default_place,
			"PriorityClass `%s` is globalDefault, as `%s` is: the API server refuses the second",
			c->id.name, first->id.name);
		finding_label_place(run, f, &first->default_place,
				    "the other globalDefault");
	}
}

const struct rule rule_priorityclass_multiple_default = {
	.name = "priorityclass-multiple-default",
	.category = "priority",
	.severity = SEVERITY_ERROR,
	.action = ACTION_DENY,
	.needs = NEEDS_SET,
	.since = "1.0",
	.summary = "more than one PriorityClass is globalDefault",
	.why = "The second is refused; when both get in, pods without a class take the lower value without anybody having said so.",
	.remedy = "Leave globalDefault: true on one class.",
	.evidence =
		"plugin/pkg/admission/priority validatePriorityClass, getDefaultPriorityClass",
	.check_set = check,
};
