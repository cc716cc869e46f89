/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports GPU pods without a priority class. Such a pod has priority 0, unless
 * a PriorityClass is globalDefault: it preempts only pods with a negative
 * priority, and any pod with a higher priority can preempt it. The class may
 * also come from the operator (kube/lifecycle/lifecycle.h); with a Kueue
 * priority label or a Kubeflow schedulingPolicy, which order the queue, nothing
 * is reported. The classes are known from a snapshot, or from the policy. If
 * they are unknown, the finding is an info; if there are none, nothing is
 * reported. Source: plugin/pkg/admission/priority getDefaultPriorityClass.
 */
#include "engine/rule.h"
#include "kube/cluster/cluster.h"
#include "kube/lifecycle/lifecycle.h"
#include "kube/purpose/purpose.h"

/* Returns "Pod `x` has" or "the `worker` pods of PyTorchJob `x` have". */
static const char *subject(struct rule_run *run, const char *kind,
			   const char *name, const char *role)
{
	const char *title = rule_title(run, kind, name);

	if (!strcmp(kind, "Pod"))
		return arena_printf(rule_arena(run), "%s has", title);
	return arena_printf(rule_arena(run), "the%s%s%s pods of %s have",
			    *role ? " `" : "", role, *role ? "`" : "", title);
}

/*
 * Adds a fix that sets the class. Before a webhook gets a Pod without a class,
 * the Priority plugin sets its number (0). If that number stayed, the plugin's
 * second run would reject the Pod: "the integer value of priority (0) must not
 * be provided". So the number is removed, and the plugin sets it again.
 */
static void give_class(struct rule_run *run, struct finding *f,
		       const struct pod *pod, const char *class)
{
	struct fix *fix = finding_fix(run, f, false,
				      "set `priorityClassName: %s`", class);
	const struct node *number = node_get(pod->spec, "priority");
	const struct node *preemption = node_get(pod->spec, "preemptionPolicy");

	fix_set(fix, pod->spec, "priorityClassName",
		edit_string(rule_arena(run), class));
	if (number)
		fix_remove(fix, number);
	if (number && preemption)
		fix_remove(fix, preemption);
}

/* Checks pods if the policy names a class, which the fix sets. */
static void check_given(struct rule_run *run, const struct pod *pod)
{
	const struct object *o = pod->object;
	const char *class = rule_param(run, "class");
	const char *role = pod->role ? pod->role : "";
	struct finding *f;

	if (!*class || !pod->gpu_by || pod_priority_class(pod) ||
	    pod_queue_priority(pod) || pod_priority_is_elsewhere(pod))
		return;
	f = report_pod(run, pod, NULL,
		       "%s no priority class: the policy requires `%s`",
		       subject(run, o->kind, o->name, role), class);
	if (!pod->flat)
		give_class(run, f, pod, class);
}

/* Returns whether a workload can choose a class: yes if the snapshot has one
 * other than the system's or, without a snapshot, if the policy lists one.
 * Unknown if neither gives a list. */
static enum tri has_choice(struct rule_run *run)
{
	const char *const *names = rule_platform(run)->priority_classes;
	const struct cluster *cluster = rule_cluster(run);
	const struct cluster_object *classes;
	size_t n;

	if (!cluster || cluster_unreadable(cluster, CLUSTER_PRIORITY_CLASS))
		return names ? tri_from(*names) : TRI_UNKNOWN;
	classes = rule_cluster_list(run, CLUSTER_PRIORITY_CLASS, "", &n);
	for (size_t i = 0; i < n; i++)
		if (!priority_class_is_system(classes[i].name))
			return TRI_YES;
	return TRI_NO;
}

static void report(struct rule_run *run, const struct workload *w,
		   const struct pod_without_class *pod, enum tri choice)
{
	struct finding *f = report_place(
		run, &w->id, &pod->place,
		"%s no priority class%s the priority is 0",
		subject(run, w->id.kind, w->id.name, pod->role),
		choice == TRI_YES
			? ", so"
			: "; unless the cluster has a default class,");

	finding_of_pod(f, pod->spec);
	if (choice != TRI_YES)
		finding_severity(f, SEVERITY_INFO);
	if (pod->fixable)
		finding_param_given(run, f, "class");
}

static void check(struct rule_run *run, const struct workload *w)
{
	enum tri choice = has_choice(run);

	if (index_default_class(rule_index(run), w) || choice == TRI_NO ||
	    rule_platform(run)->default_priority_class ||
	    rule_param_given(run, "class"))
		return;
	for (size_t i = 0; i < w->npods; i++)
		if (w->pods[i].without_class)
			report(run, w, w->pods[i].without_class, choice);
}

static const struct rule_param params[] = {
	{"class", "string", "",
	 "priorityClassName that the fix sets (no fix if empty)"},
	{0},
};

const struct rule rule_priority_class_missing = {
	.name = "priority-class-missing",
	.category = "priority",
	.severity = SEVERITY_WARNING,
	.flags = RULE_ABSENCE | RULE_OPT_IN_PATCH | RULE_SITE,
	.scope = GPU_PODS,
	.summary = "GPU pods without a priority class",
	.why = "Unless the cluster has a default class, such pods have priority 0: they cannot preempt other pods of priority 0, and any pod with a higher priority can preempt them.",
	.remedy =
		"Set priorityClassName in the pod template to a PriorityClass of your cluster.",
	.evidence =
		"https://github.com/kubernetes/kubernetes/tree/master/plugin/pkg/admission/priority; none of 637 GPU pod specs of public manifests sets one",
	.params = params,
	.check_pod = check_given,
	.check_workload = check,
};
