/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports pods whose spec.priority is not the number that the API server
 * computes from the class. Every such Pod is forbidden: "the integer value of
 * priority (5) must not be provided in pod spec". Without a class, and without
 * a default class, the server computes 0. Values come from system classes, the
 * input or the cluster; the server compares a Pod's value before it calls a
 * webhook. Source: plugin/pkg/admission/priority admitPod; kubernetes#102724.
 */
#include "engine/rule.h"
#include "kube/lifecycle/lifecycle.h"

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct node *at = pod_field(pod, "priority");
	const struct node *class = pod_priority_class(pod);
	const char *name = node_str(class);
	int64_t n, value = name ? priority_class_system_value(name) : 0;
	struct finding *f;
	struct fix *fix;

	if ((class && !value) || !node_int(at, &n) || n == value)
		return;
	f = name ? report_pod(
			   run, pod, at,
			   "`priority: %s` is set with priority class `%s`: the API server computes %s and forbids the pods",
			   rule_number(run, n), name, rule_number(run, value))
		 : report_pod(
			   run, pod, at,
			   "`priority: %s` is set without a priority class: unless the cluster's default class has that value, the API server forbids the pods",
			   rule_number(run, n));
	fix = finding_fix(run, f, true, "remove `priority`");
	fix_replaces(fix); /* the API server rejects the old value */
	fix_remove(fix, at);
}

static void check_number(struct rule_run *run, const struct workload *w,
			 const struct pod *pod,
			 const struct priority_class *class)
{
	const struct node *at = pod ? pod_field(pod, "priority") : NULL;
	struct finding *f;
	int64_t n;

	if (!node_int(at, &n) || n == class->value.n)
		return;
	f = report_place(
		run, &w->id, rule_place(run, at),
		"`priority: %s` is set with priority class `%s`: the API server computes %s and forbids the pods",
		rule_number(run, n), class->id.name,
		rule_number(run, class->value.n));
	if (class->place.file != NO_FILE)
		finding_label_place(run, f, &class->value_place, "the value");
}

/* Checks pods with a class of the input or of the cluster. The values of system
 * classes are known without them. Pods are skipped, because their number may
 * come from the API server. */
static void check_workload(struct rule_run *run, const struct workload *w)
{
	for (size_t i = 0; i < w->npods && w->class != KIND_POD; i++) {
		const char *name = w->pods[i].priority_class;
		const struct priority_class *class =
			name && !priority_class_is_system(name)
				? index_class(rule_index(run), w, name)
				: NULL;

		if (class && !class->value.unknown)
			check_number(run, w, rule_pod(run, w, i), class);
	}
}

const struct rule rule_priority_integer_set = {
	.name = "priority-integer-set",
	.category = "priority",
	.severity = SEVERITY_ERROR,
	.flags = RULE_INFRASTRUCTURE | RULE_SAFE_PATCH,
	.scope = PODSPEC,
	.summary =
		"a pod sets spec.priority to a number that is not the value of its priority class",
	.why = "The API server computes spec.priority from priorityClassName and forbids pods that set a different number.",
	.remedy = "Remove priority and set priorityClassName.",
	.evidence =
		"https://github.com/kubernetes/kubernetes/tree/master/plugin/pkg/admission/priority; https://github.com/kubernetes/kubernetes/issues/102724; observed on kube-apiserver 1.37.2",
	.check_pod = check,
	.check_workload = check_workload,
};
