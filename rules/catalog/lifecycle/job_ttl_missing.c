/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports jobs without a time to live. Such a job stays after it has finished
 * until it is deleted, and so do a Ray cluster or pods that it left behind,
 * with their GPUs. Skips CronJobs, whose history limits delete their runs,
 * objects of Argo CD, which recreates deleted ones, Helm hooks, and jobs of
 * Katib and AppWrapper, which delete them. Source: batch/v1 types.go
 * TTLSecondsAfterFinished; jobset_types.go; rayjob_types.go; training-operator
 * common_types.go; Argo CD's hooks.
 */
#include "base/text.h"
#include "engine/rule.h"
#include "kube/lifecycle/lifecycle.h"
#include "kube/operators.h"

static bool by_argo_cd(const struct object *object)
{
	return object_annotation(object, "argocd.argoproj.io/tracking-id") ||
	       object_annotation(object, "argocd.argoproj.io/sync-wave") ||
	       object_annotation(object, "argocd.argoproj.io/hook") ||
	       object_label(object, "argocd.argoproj.io/instance") ||
	       object_annotation(object, "helm.sh/hook");
}

/* True if a time to live can be set. KubeRay rejects it without
 * shutdownAfterJobFinishes, and a deletionStrategy has its own times. */
static bool may_have_ttl(const struct object *object)
{
	const struct node *spec = ray_job_spec(object);

	return !spec ||
	       (node_is_true(node_get(spec, "shutdownAfterJobFinishes")) &&
		node_is_unset(node_get(spec, "deletionStrategy")));
}

static void check(struct rule_run *run, const struct object *object)
{
	struct run_policy policy;
	struct finding *f;

	if (object->parent || text_starts(object->kind, "Cron") ||
	    text_starts(object->kind, "RayCron") ||
	    !object_run_policy(object, &policy) || !policy.fields[RUN_TTL] ||
	    run_policy_get(object, &policy, RUN_TTL) || by_argo_cd(object) ||
	    !object_gpu_pod(object))
		return;
	f = report_object(
		run, object, policy.holder,
		"`%s` is not set: the finished %s is not deleted automatically",
		policy.fields[RUN_TTL], object->kind);
	finding_missing(f, object, object->root, policy.fields[RUN_TTL]);
	finding_help(run, f, "Set `%s.%s: 86400`.", policy.path,
		     policy.fields[RUN_TTL]);
	if (may_have_ttl(object) && finding_param_given(run, f, "seconds"))
		fix_set_key(
			finding_fix(run, f, false, "set `%s: %s`",
				    policy.fields[RUN_TTL],
				    rule_number(run, rule_param_int(
							     run, "seconds"))),
			object->root, policy.path, policy.fields[RUN_TTL],
			edit_int(rule_arena(run),
				 rule_param_int(run, "seconds")));
}

static const struct rule_param params[] = {
	{"seconds", "int", "",
	 "time to live in seconds that the fix sets (no fix if empty)"},
	{0},
};

const struct rule rule_job_ttl_missing = {
	.name = "job-ttl-missing",
	.category = "lifecycle",
	.severity = SEVERITY_INFO,
	.flags = RULE_ABSENCE | RULE_OPT_IN_PATCH | RULE_PEDANTIC,
	.scope = GPU_PODS,
	.summary =
		"a GPU job is not deleted automatically after it has finished",
	.why = "Finished objects pile up, and pods that a job left running keep their GPUs.",
	.remedy = "Set ttlSecondsAfterFinished, for example to 86400.",
	.evidence =
		"https://github.com/kubernetes/api/blob/master/batch/v1/types.go TTLSecondsAfterFinished (unset: never)",
	.params = params,
	.check_object = check,
};
