/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spec.priority is the API server's to fill in, from the class. A number in
 * the manifest that differs from the computed one gets every Pod forbidden:
 * "the integer value of priority (5) must not be provided in pod spec".
 * 0 without a class is what the server computes itself: accepted.
 * Source: plugin/pkg/admission/priority admitPod; kubernetes#102724.
 */
#include <inttypes.h>

#include "engine/rule.h"
#include "kube/priority.h"

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct node *at = pod_field(pod, "priority");
	const struct node *class = pod_priority_class(pod);
	struct finding *f;
	int64_t n;

	if (pod->flat || class || !node_int(at, &n) || n == 0)
		return;
	f = report_pod(
		run, pod, at,
		"`priority: %" PRId64
		"` without a class: the API server computes 0 and forbids the pods",
		n);
	fix_remove(finding_fix(run, f, true, "remove `priority`"), at);
}

/* Beside a class that is known: its value, or none. */
static void check_class(struct rule_run *run, const struct workload *w)
{
	for (size_t i = 0; i < w->npods; i++) {
		const struct workload_pod *pod = &w->pods[i];
		const struct priority_class *class = NULL;
		struct finding *f;

		if (pod->priority_set && pod->priority_class)
			class = facts_class(rule_facts(run), w,
					    pod->priority_class);
		if (!class || class->value.unknown ||
		    class->value.n == pod->priority)
			continue;
		f = report_place(
			run, &w->id, &pod->number_place,
			"`priority: %" PRId64
			"` is not the value of `%s`: the API server computes %" PRId64
			" and forbids the pods",
			pod->priority, class->id.name, class->value.n);
		finding_label_place(run, f, &class->value_place, "the value");
		/* The plugin has filled in a Pod's before the door sees it. */
		finding_guess(run, f);
	}
}

const struct rule rule_priority_integer_set = {
	.name = "priority-integer-set",
	.category = "priority",
	.severity = SEVERITY_ERROR,
	.action = ACTION_PATCH,
	.flags = RULE_INFRASTRUCTURE,
	.since = "1.0",
	.summary = "spec.priority is set as a number",
	.why = "Only priorityClassName may be written; the Priority admission plugin forbids pods whose number differs from the class's.",
	.remedy = "Remove priority and set priorityClassName.",
	.evidence =
		"plugin/pkg/admission/priority; kubernetes#102724; observed on kube-apiserver",
	.check_pod = check,
	.check_workload = check_class,
};
