/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A finished job stays until somebody deletes it, unless a time to live is
 * set; a Ray cluster or pods that it left behind stay with it, GPUs included.
 * Runs of a CronJob are bounded by its history limits; Argo CD makes anew
 * what is deleted; Katib and AppWrapper delete their own.
 * Source: batch/v1 types.go TTLSecondsAfterFinished; jobset_types.go;
 * rayjob_types.go; training-operator common_types.go; Argo CD's hooks.
 */
#include "base/text.h"
#include "engine/rule.h"
#include "kube/lifecycle.h"

static bool by_argo_cd(const struct object *object)
{
	return object_annotation(object, "argocd.argoproj.io/tracking-id") ||
	       object_annotation(object, "argocd.argoproj.io/sync-wave") ||
	       object_annotation(object, "argocd.argoproj.io/hook") ||
	       object_label(object, "argocd.argoproj.io/instance") ||
	       object_annotation(object, "helm.sh/hook");
}

static void check(struct rule_run *run, const struct object *object)
{
	struct run_policy policy;
	struct finding *f;

	if (object->parent || text_starts(object->kind, "Cron") ||
	    text_starts(object->kind, "RayCron") || by_argo_cd(object) ||
	    !object_gpu_pod(object) || !object_run_policy(object, &policy) ||
	    !policy.fields[RUN_TTL] || run_policy_get(object, &policy, RUN_TTL))
		return;
	f = report_object(run, object, policy.holder,
			  "the finished %s stays until somebody deletes it",
			  object->kind);
	finding_help(run, f, "set `%s.%s: 86400`", policy.path,
		     policy.fields[RUN_TTL]);
}

const struct rule rule_job_ttl_missing = {
	.name = "job-ttl-missing",
	.category = "lifecycle",
	.severity = SEVERITY_INFO,
	.action = ACTION_AUDIT,
	.flags = RULE_ABSENCE | RULE_OPT_IN_PATCH | RULE_PEDANTIC,
	.since = "1.0",
	.summary = "a GPU job is never deleted after it has finished",
	.why = "Finished objects pile up, and what a job left running keeps its GPUs.",
	.remedy = "Set ttlSecondsAfterFinished, for instance to 86400.",
	.evidence = "batch/v1 types.go TTLSecondsAfterFinished (unset: never)",
	.check_object = check,
};
