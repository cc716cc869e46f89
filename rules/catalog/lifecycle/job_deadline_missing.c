/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collective operations wait for a lost rank without end by default: the job
 * neither fails nor succeeds, and holds its GPUs until somebody looks. A
 * deadline at the job ends that; one in the pod template would move the pods
 * to another quota (scope Terminating). Kueue has a label for the same.
 * Source: batch/v1 types.go, common_types.go RunPolicy, rayjob_types.go
 * (activeDeadlineSeconds); Kueue max-exec-time-seconds.
 */
#include "engine/rule.h"
#include "kube/lifecycle.h"

static bool kueue_ends_it(const struct object *object)
{
	for (; object; object = object->parent)
		if (object_label(object,
				 "kueue.x-k8s.io/max-exec-time-seconds"))
			return true;
	return false;
}

/* Does its kind have a deadline at all? */
static bool has_deadline(const struct pod *pod)
{
	struct run_policy policy;

	return pod_job_spec(pod) || (object_run_policy(pod->object, &policy) &&
				     policy.fields[RUN_DEADLINE]);
}

static void check(struct rule_run *run, const struct object *object)
{
	if (object->class == KIND_TEMPLATE || kueue_ends_it(object))
		return;
	FOR_EACH_POD(object, pod) {
		const struct node *own;

		if (pod_uses_gpu(pod) != TRI_YES ||
		    pod_is_infrastructure(pod) || !pod_is_training(pod) ||
		    !has_deadline(pod))
			continue;
		own = pod->flat ? NULL
				: pod_field(pod, "activeDeadlineSeconds");
		if (pod_run_deadline(pod) || !node_is_unset(own))
			continue;
		report_object(run, object, NULL,
			      "training that hangs holds its GPUs for ever: "
			      "no activeDeadlineSeconds");
		return;
	}
}

const struct rule rule_job_deadline_missing = {
	.name = "job-deadline-missing",
	.category = "lifecycle",
	.severity = SEVERITY_WARNING,
	.action = ACTION_WARN,
	.flags = RULE_ABSENCE | RULE_OPT_IN_PATCH,
	.since = "1.0",
	.summary = "GPU training without a deadline",
	.why = "A job that hangs in a collective operation neither fails nor ends, and holds its GPUs.",
	.remedy =
		"Set activeDeadlineSeconds at the job (Job spec, runPolicy, RayJob spec), not in the pod template.",
	.evidence =
		"batch/v1 types.go ActiveDeadlineSeconds; Kueue max-exec-time-seconds",
	.check_object = check,
};
