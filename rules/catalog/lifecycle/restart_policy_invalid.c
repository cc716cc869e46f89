/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports restart settings that the API server or an operator rejects, with or
 * without GPUs. They reject an unknown policy, Always in a Job, and a negative
 * backoffLimit. A controller of long-running pods needs Always and cannot have
 * a deadline. A podFailurePolicy excludes OnFailure (also as JobSet's default)
 * and podReplacementPolicy TerminatingOrFailed. mpi-operator accepts Never and
 * OnFailure only. Source: observed with kube-apiserver 1.36;
 * pkg/apis/batch/validation, pkg/apis/apps/validation
 * ValidatePodTemplateSpecForReplicaSet; mpi-operator
 * pkg/apis/kubeflow/validation.
 */
#include "engine/rule.h"
#include "kube/lifecycle/lifecycle.h"
#include "kube/operators.h"

/* True for ExitCode, which only Kubeflow's replicas may have, in a pod spec
 * that the operator does not change. */
static bool is_of_replicas(const struct pod *pod, const struct node *policy)
{
	return pod->restart == RESTART_EXIT_CODE && policy &&
	       policy->parent == pod->spec && !(pod->injects & INJECT_RESTART);
}

static bool check_word(struct rule_run *run, const struct pod *pod,
		       const struct node *policy)
{
	bool replica = policy && policy->parent == pod->group;
	struct finding *f;

	if ((pod->restart != RESTART_UNKNOWN && !is_of_replicas(pod, policy)) ||
	    !node_str(policy) || pod->object->pods_inferred)
		return false;
	f = report_pod(run, pod, policy, "`%s` is not a restartPolicy",
		       node_str(policy));
	finding_help(run, f,
		     replica ? "Use `Always`, `OnFailure`, `Never` or "
			       "`ExitCode`."
			     : "Use `Always`, `OnFailure` or `Never`.");
	return true;
}

static void check_job(struct rule_run *run, const struct pod *pod,
		      const struct node *spec)
{
	const struct node *limit = node_get(spec, "backoffLimit");
	const struct node *failure = node_get(spec, "podFailurePolicy");
	const struct node *replace = node_get(spec, "podReplacementPolicy");
	struct finding *f;
	int64_t n;

	if (pod->restart == RESTART_ALWAYS && pod->restart_node)
		report_pod(
			run, pod, pod->restart_node,
			"a Job's restartPolicy must be `Never` or `OnFailure`, not `Always`");
	/* JobSet sets the default (jobset v0.12.0 pkg/webhooks/
	 * jobset_webhook.go, Default). */
	if (pod->restart == RESTART_ON_FAILURE && !pod->restart_node &&
	    !pod->object->fragment && !node_is_unset(failure) &&
	    object_is(pod->object, "jobset.x-k8s.io", "JobSet"))
		report_pod(
			run, pod, failure,
			"podFailurePolicy requires restartPolicy `Never`, but JobSet sets `OnFailure` where none is set");
	if (pod->restart == RESTART_ON_FAILURE && pod->restart_node &&
	    !node_is_unset(failure)) {
		f = report_pod(
			run, pod, pod->restart_node,
			"podFailurePolicy requires restartPolicy `Never`");
		finding_label(run, f, failure, "this podFailurePolicy");
	}
	if (node_eq(replace, "TerminatingOrFailed") &&
	    !node_is_unset(failure)) {
		f = report_pod(
			run, pod, replace,
			"podFailurePolicy requires podReplacementPolicy `Failed`, the default");
		finding_label(run, f, failure, "this podFailurePolicy");
		finding_help(run, f, "Remove it or set it to `Failed`.");
	}
	if (node_int(limit, &n) && n < 0)
		finding_help(
			run,
			report_pod(run, pod, limit,
				   "`backoffLimit` must be 0 or more, not %s",
				   rule_number(run, n)),
			"Set `backoffLimit` to 0 or more.");
}

static void check_service(struct rule_run *run, const struct pod *pod)
{
	const struct node *deadline =
		node_get(pod->spec, "activeDeadlineSeconds");

	if (pod->restart == RESTART_ON_FAILURE || pod->restart == RESTART_NEVER)
		report_pod(run, pod, pod->restart_node,
			   "the restartPolicy of a %s must be `Always`",
			   pod->object->kind);
	if (!node_is_unset(deadline) && !node_is_unknown(deadline))
		report_pod(
			run, pod, deadline,
			"activeDeadlineSeconds is not allowed in the pod template of a %s",
			pod->object->kind);
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct object *object = pod->object;
	const struct node *spec = pod_job_spec(pod);

	if (check_word(run, pod, pod->restart_node))
		return;
	if (spec)
		check_job(run, pod, spec);
	else if (object_kind_has(object, KIND_NATIVE | KIND_SELECTOR) &&
		 (object->class == KIND_SERVICE ||
		  object->class == KIND_DAEMON))
		check_service(run, pod);
	else if (object_is_mpi_v2(object) && pod->restart_node &&
		 (pod->restart == RESTART_ALWAYS ||
		  pod->restart == RESTART_EXIT_CODE))
		report_pod(
			run, pod, pod->restart_node,
			"an MPIJob accepts only restartPolicy `Never` or `OnFailure`");
}

const struct rule rule_restart_policy_invalid = {
	.name = "restart-policy-invalid",
	.category = "lifecycle",
	.severity = SEVERITY_ERROR,
	.flags = RULE_INFRASTRUCTURE,
	.scope = PODSPEC,
	.summary =
		"a restartPolicy, podReplacementPolicy, deadline or backoffLimit that the API server or the operator rejects for this kind",
	.why = "The API server rejects the object, or the operator rejects it or cannot create its pods.",
	.remedy =
		"Use Never or OnFailure for Jobs (Never if there is a podFailurePolicy). Deployments and similar kinds need Always and cannot set activeDeadlineSeconds.",
	.evidence =
		"kube-apiserver 1.36; https://github.com/kubernetes/kubernetes/tree/master/pkg/apis/batch/validation; https://github.com/kubernetes/kubernetes/tree/master/pkg/apis/apps/validation; observed on kube-apiserver 1.37.2",
	.check_pod = check,
};
