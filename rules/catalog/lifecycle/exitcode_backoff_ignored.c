/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports Kubeflow replicas with restartPolicy ExitCode in a job without a
 * deadline, with or without a backoffLimit. With this policy, the operator
 * deletes a pod that ended with a code of 128 or more (137 out of memory, 139
 * segmentation fault) and recreates it. backoffLimit counts container restarts
 * of running pods, so these failures are never counted. The loop ends only by a
 * deadline, or by a limit of 0, which the first failed pod exceeds. Source:
 * training-operator pkg/core/job.go PastBackoffLimit;
 * controller.v1/common/job.go ReconcileJobs (exceedsBackoffLimit; its queue
 * counts no requeues); trainer#2045.
 */
#include "engine/rule.h"
#include "kube/lifecycle/lifecycle.h"
#include "kube/operators.h"

/* True if the first failure ends the job, or may. */
static bool never_retries(const struct object *object,
			  const struct run_policy *policy)
{
	const struct node *limit = run_policy_get(object, policy, RUN_RETRIES);
	struct amount n = amount_int(limit, 1);

	return n.unknown || !n.n;
}

static void check(struct rule_run *run, const struct object *object)
{
	struct run_policy policy;

	if (!object_is_kubeflow(object) || object_is_mpi_v2(object) ||
	    !object_gpu_pod(object) || !object_run_policy(object, &policy) ||
	    run_policy_get(object, &policy, RUN_DEADLINE) ||
	    never_retries(object, &policy))
		return;
	FOR_EACH_POD(object, pod) {
		struct finding *f;

		if (pod->restart != RESTART_EXIT_CODE)
			continue;
		f = report_pod(
			run, pod, pod->restart_node,
			"`%s` pods that exit with a code of 128 or more are "
			"recreated endlessly",
			pod->role);
		finding_help(run, f,
			     "Set `spec.runPolicy.activeDeadlineSeconds`, or "
			     "`restartPolicy: OnFailure` with a backoffLimit.");
		finding_label(run, f,
			      run_policy_get(object, &policy, RUN_RETRIES),
			      "does not count these failures");
	}
}

const struct rule rule_exitcode_backoff_ignored = {
	.name = "exitcode-backoff-ignored",
	.category = "lifecycle",
	.severity = SEVERITY_WARNING,
	.scope = GPU_PODS,
	.summary =
		"restartPolicy ExitCode without a deadline: backoffLimit does not limit restarts",
	.why = "A worker that runs out of memory (exit code 137) is recreated endlessly, even if backoffLimit is set to a number above 0.",
	.remedy = "Set runPolicy.activeDeadlineSeconds.",
	.evidence =
		"https://github.com/kubeflow/trainer/tree/release-1.9/pkg/core/job.go PastBackoffLimit; https://github.com/kubeflow/trainer/issues/2045",
	.check_object = check,
};
