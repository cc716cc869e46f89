/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports Jobs that may be disrupted and have no podFailurePolicy. When a node
 * is reclaimed or drained, or a pod is preempted, the pods fail and count
 * against the Job's backoffLimit. A podFailurePolicy that ignores the condition
 * DisruptionTarget counts only failures of the program. It needs restartPolicy
 * Never, which the API server checks. Source: KEP-3329; batch/v1 types.go
 * PodFailurePolicy. It is a guess that a class named "low" or "preemptible" is
 * preempted.
 */
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/lifecycle/lifecycle.h"
#include "kube/scheduling/affinity.h"

/* True if a word of the name means low priority, but not for `mlflow`,
 * `low-latency` or `non-preemptible`. */
static bool is_low(const char *class)
{
	static const char *const words[] = {
		"low", "lowest", "spot", "preemptible", "preemptable", NULL};

	for (const char *const *word = words; class && *word; word++) {
		size_t len = strlen(*word);

		for (const char *at = class; (at = strstr(at, *word)); at++)
			if ((at == class || strchr("-.", at[-1])) &&
			    (!at[len] || strchr("-.", at[len])) &&
			    !text_starts(at, "low-latency") &&
			    (at < class + 4 || strncmp(at - 4, "non-", 4)))
				return true;
	}
	return false;
}

/* Returns the selector, toleration or priority class that shows that the pod
 * may be evicted from its node, or NULL. */
static const struct node *disrupted_by(const struct pod *pod)
{
	const struct node *at = pod_spot(pod);
	const struct node *class = pod_priority_class(pod);

	return at ? at : is_low(node_str(class)) ? class : NULL;
}

/* Adds the policy, and the podReplacementPolicy that it requires. JobSet's
 * schema requires the field `status`, which has a default in a Job. */
static void repair(struct rule_run *run, struct finding *f,
		   const struct node *spec)
{
	struct arena *arena = rule_arena(run);
	struct node *condition = edit_map(arena), *item = edit_map(arena);
	struct node *rules = edit_seq(arena);
	struct fix *fix = finding_fix(
		run, f, false,
		"set `podFailurePolicy` to ignore DisruptionTarget, and `podReplacementPolicy: Failed`");

	edit_member_string(arena, condition, "type", "DisruptionTarget");
	edit_member_string(arena, condition, "status", "True");
	edit_member_string(arena, item, "action", "Ignore");
	edit_member(arena, item, "onPodConditions",
		    edit_item(edit_seq(arena), condition));
	fix_set(fix, spec, "podFailurePolicy.rules", edit_item(rules, item));
	fix_set(fix, spec, "podReplacementPolicy",
		edit_string(arena, "Failed"));
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct node *spec = pod_job_spec(pod), *by;
	struct finding *f;

	if (!spec ||
	    (pod->restart != RESTART_NEVER &&
	     pod->restart != RESTART_ON_FAILURE) ||
	    !node_is_unset(node_get(spec, "podFailurePolicy")))
		return;
	by = disrupted_by(pod);
	if (!by)
		return;
	f = report_pod(
		run, pod, spec,
		"`podFailurePolicy` is not set: pods that are evicted or lost with their node count as failures of the program");
	finding_label(run, f, by,
		      by == pod_priority_class(pod)
			      ? "other classes may preempt this one"
			      : "the provider may reclaim these nodes");
	if (pod->restart == RESTART_ON_FAILURE)
		finding_help(run, f,
			     "Set `restartPolicy: Never`, which a "
			     "podFailurePolicy needs, and add one that ignores "
			     "DisruptionTarget.");
	else if (pod->restart_node)
		repair(run, f, spec);
}

const struct rule rule_job_podfailurepolicy_missing = {
	.name = "job-podfailurepolicy-missing",
	.category = "lifecycle",
	.severity = SEVERITY_INFO,
	.flags = RULE_ABSENCE | RULE_OPT_IN_PATCH,
	.scope = GPU_PODS,
	.summary =
		"a GPU Job on spot or preemptible capacity counts lost nodes as failures",
	.why = "A few evictions use up backoffLimit, and the Job fails although its program works.",
	.remedy =
		"Set restartPolicy: Never, which the API server requires, and add podFailurePolicy: {rules: [{action: Ignore, onPodConditions: [{type: DisruptionTarget}]}]}.",
	.evidence =
		"https://kep.k8s.io/3329 (retriable and non-retriable pod failures)",
	.check_pod = check,
};
