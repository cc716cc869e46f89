/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pod without priorityClassName has priority 0, unless a PriorityClass is
 * globalDefault: it preempts nothing and anything preempts it. The class may
 * also come from the operator (kube/priority.h); a Kueue priority label or a
 * Kubeflow schedulingPolicy orders the queue and silences the rule.
 * Source: plugin/pkg/admission/priority getDefaultPriorityClass.
 */
#include "engine/rule.h"
#include "kube/priority.h"

#define MESSAGE                                                                \
	"GPU pods%s%s%s of %s have no priority class: they run at priority 0"

/*
 * The Priority plugin has written the number of no class into a Pod before a
 * webhook sees it; left there, its second run refuses the Pod: "the integer
 * value of priority (0) must not be provided". It writes both again.
 */
static void give_class(struct rule_run *run, struct finding *f,
		       const struct pod *pod, const char *class)
{
	struct fix *fix =
		finding_fix(run, f, false, "use the class `%s`", class);
	const struct node *number = node_get(pod->spec, "priority");
	const struct node *preemption = node_get(pod->spec, "preemptionPolicy");

	fix_set(fix, pod->spec, "priorityClassName", NULL,
		edit_string(rule_arena(run), class));
	if (number)
		fix_remove(fix, number);
	if (number && preemption)
		fix_remove(fix, preemption);
}

/* The policy names a class: whoever has none is told, and can be given it. */
static void check_given(struct rule_run *run, const struct pod *pod)
{
	const struct object *o = pod->object;
	const char *class = rule_param(run, "class");
	const char *role = pod->role ? pod->role : "";
	struct finding *f;

	if (!*class || !pod->gpu_by || pod_priority_class(pod) ||
	    pod_queue_priority(pod) || pod_priority_is_elsewhere(pod))
		return;
	f = report_pod(run, pod, NULL, MESSAGE, *role ? " `" : "", role,
		       *role ? "`" : "", rule_title(run, o->kind, o->name));
	if (!pod->flat)
		give_class(run, f, pod, class);
}

static void check(struct rule_run *run, const struct workload *w)
{
	if (facts_default_class(rule_facts(run), w) ||
	    rule_param_given(run, "class"))
		return;
	for (size_t i = 0; i < w->npods; i++) {
		const struct workload_pod *pod = &w->pods[i];

		if (!pod->gpu || pod->fragment || pod->priority_class ||
		    pod->priority_unknown || pod->queue_priority)
			continue;
		report_place(run, &w->id, &pod->place, MESSAGE,
			     *pod->role ? " `" : "", pod->role,
			     *pod->role ? "`" : "",
			     rule_title(run, w->id.kind, w->id.name));
	}
}

static const struct rule_param params[] = {
	{"class", "string", "", "class that the repair sets; empty: no repair"},
	{0},
};

const struct rule rule_priority_class_missing = {
	.name = "priority-class-missing",
	.category = "priority",
	.severity = SEVERITY_WARNING,
	.action = ACTION_WARN,
	.flags = RULE_ABSENCE | RULE_OPT_IN_PATCH,
	.since = "1.0",
	.summary = "GPU pods without a priority class",
	.why = "At priority 0 a training job cannot preempt anything and is itself evicted by whatever has a class.",
	.remedy =
		"Set priorityClassName in the pod template to a class of your cluster.",
	.evidence =
		"plugin/pkg/admission/priority; none of 637 GPU pod specs of public manifests sets one",
	.params = params,
	.check_pod = check_given,
	.check_workload = check,
};
