/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports Jobs without a restartPolicy, which the API server rejects, because
 * the default of pods, Always, is not allowed in a Job. JobSet and training
 * runtimes set it for their Jobs. Source: observed with kube-apiserver 1.36
 * ("spec.template.spec.restartPolicy: Required value"); JobSet
 * jobset_webhook.go.
 */
#include "engine/rule.h"
#include "kube/lifecycle/lifecycle.h"

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct node *policy = node_get(pod->spec, "restartPolicy");

	if (!object_is_job(pod->object) || !node_is_map(pod->spec) ||
	    !node_is_unset(policy))
		return;
	report_pod(
		run, pod, NULL,
		"`restartPolicy` is not set: the API server rejects the Job");
}

const struct rule rule_job_restart_policy_missing = {
	.name = "job-restart-policy-missing",
	.category = "lifecycle",
	.severity = SEVERITY_ERROR,
	.flags = RULE_ABSENCE | RULE_INFRASTRUCTURE,
	.summary = "a Job or CronJob without a restartPolicy for its pods",
	.why = "The API server rejects the object: a Job requires restartPolicy Never or OnFailure, and the default is Always.",
	.remedy = "Set restartPolicy: Never or OnFailure in the pod template.",
	.evidence =
		"kube-apiserver 1.36; https://github.com/kubernetes/kubernetes/tree/master/pkg/apis/batch/validation; observed on kube-apiserver 1.37.2",
	.check_pod = check,
};
