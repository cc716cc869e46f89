/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spec.priority is the API server's to fill in, from the class. A number in
 * the manifest that differs from the computed one gets every Pod forbidden:
 * "the integer value of priority (5) must not be provided in pod spec".
 * 0 without a class is what the server computes itself: accepted. Of classes
 * only the system's have a value that is known here.
 * Source: plugin/pkg/admission/priority admitPod; kubernetes#102724.
 */
#include <inttypes.h>

#include "engine/rule.h"
#include "kube/priority.h"

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct node *at = pod_field(pod, "priority");
	const struct node *class = pod_priority_class(pod);
	const char *name = node_str(class);
	int64_t n, value = name ? priority_class_system_value(name) : 0;
	struct finding *f;

	if (pod->flat || (class && !value) || !node_int(at, &n) || n == value)
		return;
	f = report_pod(run, pod, at,
		       "`priority: %" PRId64
		       "` %s%s%s: the API server computes %" PRId64
		       " and forbids the pods",
		       n, name ? "beside `" : "without a class",
		       name ? name : "", name ? "`" : "", value);
	fix_remove(finding_fix(run, f, true, "remove `priority`"), at);
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
};
