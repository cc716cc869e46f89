/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A RayJob waits for its cluster for as long as it takes: when some workers
 * never get their GPUs, those that did hold theirs. preRunningDeadlineSeconds
 * ends the wait; activeDeadlineSeconds ends it too, with the job.
 * Source: KubeRay rayjob_types.go PreRunningDeadlineSeconds.
 */
#include "engine/rule.h"
#include "kube/lifecycle.h"

static void check(struct rule_run *run, const struct object *object)
{
	const struct node *spec = ray_job_spec(object);

	if (!spec || !object_gpu_pod(object) ||
	    !node_is_unset(node_get(spec, "clusterSelector")) ||
	    !node_is_unset(node_get(spec, "preRunningDeadlineSeconds")) ||
	    !node_is_unset(node_get(spec, "activeDeadlineSeconds")))
		return;
	report_object(run, object, NULL,
		      "a cluster that gets only some of its GPUs waits for "
		      "ever");
}

const struct rule rule_rayjob_prerunning_deadline = {
	.name = "rayjob-prerunning-deadline",
	.category = "lifecycle",
	.severity = SEVERITY_INFO,
	.action = ACTION_AUDIT,
	.flags = RULE_ABSENCE,
	.since = "1.0",
	.summary = "a GPU RayJob has no deadline for its cluster to come up",
	.why = "Workers that started hold their GPUs while the others wait for theirs, without end.",
	.remedy = "Set preRunningDeadlineSeconds (or activeDeadlineSeconds).",
	.evidence = "KubeRay rayjob_types.go PreRunningDeadlineSeconds",
	.check_object = check,
};
