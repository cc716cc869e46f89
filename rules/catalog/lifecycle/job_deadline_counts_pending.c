/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports short deadlines that include the time spent waiting for GPUs.
 * activeDeadlineSeconds of a job counts from its startTime, which is set when
 * the controller first sees the job, not when its pods run. Suspended jobs have
 * no startTime, so jobs in Kueue are skipped. A deadline in a pod counts from
 * the time when the kubelet starts the pod, and is not checked here. The
 * deadline of an MPIJob (v2beta1) applies to its launcher, which may be created
 * last. Source: batch/v1 types.go ActiveDeadlineSeconds; training-operator
 * pkg/core/job.go PastActiveDeadline; KubeRay rayjob_controller.go;
 * mpi_job_controller.go syncHandler, newLauncherJob.
 */
#include <string.h>

#include "engine/rule.h"
#include "kube/lifecycle/lifecycle.h"
#include "kube/operators.h"
#include "kube/purpose/purpose.h"

/* True for a worker of an MPIJob whose launcher is created only when the
 * workers are ready. The deadline counts from then. */
static bool is_waited_for(const struct pod *pod)
{
	return object_is_mpi_v2(pod->object) &&
	       !object_launches_early(pod->object) &&
	       strcmp(pod->role, "Launcher") != 0;
}

static void check(struct rule_run *run, const struct object *object)
{
	const struct node *last = NULL;

	if (object->class == KIND_POD || object_is_queued(object) ||
	    object_is_suspended(object) || object->class == KIND_TEMPLATE)
		return;
	FOR_EACH_POD(object, pod) {
		const struct node *deadline;
		int64_t seconds;

		if (pod_uses_gpu(pod) != TRI_YES || pod_is_infrastructure(pod))
			continue;
		deadline = pod_run_deadline(pod);
		if (!deadline || deadline == last ||
		    !node_int(deadline, &seconds) || seconds <= 0 ||
		    seconds >= rule_param_int(run, "min") || is_waited_for(pod))
			continue;
		last = deadline;
		report_pod(
			run, pod, deadline,
			"the deadline of %s s also runs while the pods wait for GPUs",
			rule_number(run, seconds));
	}
}

static const struct rule_param params[] = {
	{"min", "int", "3600",
	 "shortest deadline in seconds that is not reported"},
	{0},
};

const struct rule rule_job_deadline_counts_pending = {
	.name = "job-deadline-counts-pending",
	.category = "lifecycle",
	.severity = SEVERITY_WARNING,
	.scope = GPU_PODS,
	.summary =
		"a GPU job's short activeDeadlineSeconds includes the wait for GPUs",
	.why = "On a busy cluster, the job may be killed before it has started, or in the middle of its work.",
	.remedy =
		"Add the time spent in the queue to the deadline, or admit the job through Kueue (the deadline does not run while the job is suspended).",
	.evidence =
		"https://github.com/kubernetes/api/blob/master/batch/v1/types.go ActiveDeadlineSeconds",
	.params = params,
	.check_object = check,
};
