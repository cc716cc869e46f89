/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports PodDisruptionBudgets and autoscalers that miss the workload whose
 * name they have, and required pod affinities whose labels differ from the
 * pods' own by a letter or two. Other pods of the cluster may match, so the
 * findings are infos. A budget without pods protects none
 * (pkg/controller/disruption), an autoscaler without a target does nothing
 * (pkg/controller/podautoscaler), and a pod whose affinity no pod matches stays
 * Pending, unless it matches itself
 * (pkg/scheduler/framework/plugins/interpodaffinity/filtering.go, Kubernetes
 * 1.36).
 */
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/set/index_find.h"

/* Largest number of differing letters of two labels, and the length of the
 * shortest label that is compared. */
enum { LETTERS = 2, SHORTEST = 4 };

static void check_budget(struct rule_run *run, const struct workload *w)
{
	const struct found_object *budget =
		index_find(rule_index(run), w, CLUSTER_DISRUPTION_BUDGET,
			   w->id.name, rule_arena(run));
	const struct node *selector;

	if (!budget || !budget->in_set || !budget->root)
		return;
	selector = node_path(budget->root, "spec.selector");
	for (size_t i = 0; i < w->npods; i++)
		if (workload_pod_selected(&w->pods[i], selector,
					  rule_arena(run)) != TRI_NO)
			return;
	finding_label_place(
		run,
		report_place(
			run, &w->id, &w->place,
			"PodDisruptionBudget `%s` does not select the pods of %s: if it is for them, it protects none",
			budget->name, rule_title(run, w->id.kind, w->id.name)),
		&budget->place, "the budget");
}

/* True if a workload of the input is the target. */
static bool has_target(const struct object_index *set,
		       const struct scaler *scaler)
{
	FOR_EACH_WORKLOAD(set, w)
		if (scaler_scales(set, scaler, w))
			return true;
	return false;
}

static void check_scaler(struct rule_run *run, const struct workload *w,
			 const struct scaler *scaler)
{
	const struct object_index *set = rule_index(run);
	struct scaler same = *scaler;

	same.name = w->id.name;
	if (!text_eq(scaler->id.name, w->id.name) ||
	    !scaler_scales(set, &same, w) || has_target(set, scaler))
		return;
	finding_label_place(
		run,
		report_place(
			run, &w->id, &w->place,
			"%s `%s` has the target %s `%s`, not %s: if its target does not exist, it scales nothing",
			scaler->id.kind, scaler->id.name, scaler->kind,
			scaler->name, rule_title(run, w->id.kind, w->id.name)),
		&scaler->place, "the autoscaler");
}

static void check(struct rule_run *run, const struct workload *w)
{
	const struct object_index *set = rule_index(run);

	if (w->child || w->duplicate_of || !*w->id.namespace || !w->npods)
		return;
	check_budget(run, w);
	for (size_t i = 0; i < set->nscalers; i++)
		check_scaler(run, w, &set->scalers[i]);
}

/* --- affinity ------------------------------------------------------------- */

static bool is_near(const char *a, const char *b)
{
	return strlen(a) >= SHORTEST && strcmp(a, b) != 0 &&
	       text_distance(a, b, LETTERS) <= LETTERS;
}

static void check_term(struct rule_run *run, const struct pod *pod,
		       const struct node *term)
{
	const struct node *selector = node_get(term, "labelSelector");

	if (!node_is_unset(node_get(term, "namespaces")) ||
	    !node_is_unset(node_get(term, "namespaceSelector")))
		return;
	FOR_EACH_CHILD(node_get(selector, "matchLabels"), label) {
		const char *own = node_str(pod_label(pod, label->key));

		if (!node_str(label) || !own || !is_near(label->str, own))
			continue;
		report_pod(
			run, pod, label,
			"the pods require pods with `%s: %s`, but have `%s` themselves: if no other pods match, they stay Pending",
			label->key, label->str, own);
		return;
	}
}

static void check_pod(struct rule_run *run, const struct pod *pod)
{
	FOR_EACH_CHILD(
		node_path(pod_field(pod, "affinity"),
			  "podAffinity."
			  "requiredDuringSchedulingIgnoredDuringExecution"),
		term)
		check_term(run, pod, term);
}

const struct rule rule_selector_misses_pods = {
	.name = "selector-misses-pods",
	.category = "scheduling",
	.severity = SEVERITY_INFO,
	.needs = NEEDS_SET,
	.scope = GPU_PODS,
	.summary =
		"a disruption budget, autoscaler or affinity that misses the pods that it seems to be for",
	.why = "The budget protects no pod, the autoscaler scales nothing, or the pods stay Pending. Other pods of the cluster may match, so this is an info.",
	.remedy = "Use the labels of the pods and the name of the workload.",
	.evidence =
		"https://kubernetes.io/docs/tasks/run-application/configure-pdb/; https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/#inter-pod-affinity-and-anti-affinity",
	.check_pod = check_pod,
	.check_workload = check,
};
