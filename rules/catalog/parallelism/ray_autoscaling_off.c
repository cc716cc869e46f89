/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports Ray worker groups with autoscaling bounds whose cluster has no
 * autoscaler. maxReplicas and minReplicas still limit replicas (ray-operator
 * controllers/ray/utils/util.go, GetWorkerGroupDesiredReplicas). An explicit
 * `false` is intended.
 */
#include <stdint.h>

#include "base/text.h"
#include "engine/rule.h"

/* KubeRay's CRD default for maxReplicas. */
enum { NO_MAXIMUM = INT32_MAX };

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct node *list = pod->group ? pod->group->parent : NULL;
	const struct node *on, *at;
	struct amount now, most;

	if (!node_is_seq(list) || !text_eq(pod->object->group, "ray.io") ||
	    pod->object->fragment)
		return;
	on = node_get(list->parent, "enableInTreeAutoscaling");
	at = node_get(pod->group, "maxReplicas");
	now = amount_max(amount_int(node_get(pod->group, "replicas"), 0),
			 amount_int(node_get(pod->group, "minReplicas"), 0));
	most = amount_int(at, 0);
	if (!node_is_unset(on) || now.unknown || most.unknown ||
	    node_is_unset(at) || now.n >= most.n || most.n == NO_MAXIMUM ||
	    node_is_true(node_get(pod->group, "suspend")))
		return;
	report_pod(
		run, pod, at,
		"`enableInTreeAutoscaling` is not set: worker group `%s` stays at %s and does not grow to maxReplicas, %s",
		pod->role, rule_count(run, now.n, "replica"),
		rule_number(run, most.n));
}

const struct rule rule_ray_autoscaling_off = {
	.name = "ray-autoscaling-off",
	.category = "parallelism",
	.severity = SEVERITY_INFO,
	.scope = GPU_PODS,
	.summary =
		"a worker group can grow to maxReplicas, but the Ray autoscaler is not enabled",
	.why = "Without enableInTreeAutoscaling, the number of workers does not follow the load: it stays at replicas or, if that is larger, minReplicas.",
	.remedy =
		"Set enableInTreeAutoscaling: true, or make minReplicas and maxReplicas equal.",
	.evidence =
		"https://docs.ray.io/en/latest/cluster/kubernetes/user-guides/configuring-autoscaling.html",
	.check_pod = check,
};
