/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports RayJobs that wait for their cluster indefinitely. If some workers
 * never get their GPUs, the others hold theirs. preRunningDeadlineSeconds ends
 * the wait. activeDeadlineSeconds ends the job as well. With a queue or a gang
 * scheduler, all workers start or none. Source: KubeRay rayjob_types.go
 * PreRunningDeadlineSeconds.
 */
#include "engine/rule.h"
#include "kube/lifecycle/lifecycle.h"
#include "kube/operators.h"

/* True if the object has several pods with devices. A single pod gets all of
 * its devices or none. */
static bool has_several(const struct object *object)
{
	struct amount pods = {0};

	FOR_EACH_POD(object, pod)
		if (pod_uses_gpu(pod) == TRI_YES)
			pods = amount_add(pods, pod->steady);
	return pods.n > 1;
}

static void check(struct rule_run *run, const struct object *object)
{
	const struct node *spec = ray_job_spec(object);
	struct finding *f;

	if (!spec || !object_gpu_pod(object) || !has_several(object) ||
	    object->gang_kind == GANG_OPERATOR ||
	    !node_is_unset(node_get(spec, "clusterSelector")) ||
	    !node_is_unset(node_get(spec, "preRunningDeadlineSeconds")) ||
	    !node_is_unset(node_get(spec, "activeDeadlineSeconds")))
		return;
	f = report_object(
		run, object, spec,
		"`preRunningDeadlineSeconds` is not set: if the Ray cluster gets only some of its %ss, it waits forever",
		object_device(object));
	finding_missing(f, object, object->root, "preRunningDeadlineSeconds");
}

const struct rule rule_rayjob_prerunning_deadline = {
	.name = "rayjob-prerunning-deadline",
	.category = "lifecycle",
	.severity = SEVERITY_INFO,
	.flags = RULE_ABSENCE,
	.scope = GPU_PODS,
	.summary =
		"a GPU RayJob without a deadline for the start of its cluster",
	.why = "Workers that have started hold their GPUs indefinitely while the others wait for theirs.",
	.remedy = "Set preRunningDeadlineSeconds (or activeDeadlineSeconds).",
	.evidence =
		"https://github.com/ray-project/kuberay/blob/master/ray-operator/apis/ray/v1/rayjob_types.go PreRunningDeadlineSeconds",
	.check_object = check,
};
