/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports RayServices whose upgrade starts a second Ray cluster while the first
 * one still runs. This is the default strategy, NewCluster.
 */
#include "base/arena.h"
#include "engine/rule.h"
#include "kube/lifecycle/lifecycle.h"

static void check(struct rule_run *run, const struct object *object)
{
	const struct node *spec, *type;
	int64_t n = object->gpus.n;
	const char *more;

	if (!object_is(object, "ray.io", "RayService") ||
	    !object_gpu_pod(object) || object->gpus.unknown || n < 1 ||
	    object->fragment)
		return;
	spec = node_get(object->root, "spec");
	type = node_path(spec, "upgradeStrategy.type");
	if (!node_is_unset(type) && !node_eq(type, "NewCluster"))
		return;
	more = arena_printf(rule_arena(run), "more %s", object_device(object));
	finding_missing(
		report_object(
			run, object, node_is_unset(type) ? spec : type,
			"an upgrade needs %s: if %s not free, the new cluster waits",
			rule_count(run, n, more),
			n == 1 ? "it is" : "they are"),
		object, object->root, "spec.upgradeStrategy.type");
}

const struct rule rule_rayservice_upgrade_doubles = {
	.name = "rayservice-upgrade-doubles",
	.category = "serving",
	.severity = SEVERITY_INFO,
	.flags = RULE_ABSENCE,
	.scope = GPU_PODS,
	.summary =
		"an upgrade that starts a second Ray cluster alongside the first",
	.why = "If twice the GPUs are not available, the new cluster waits and the service stays on the old version.",
	.remedy =
		"If you do not have twice the GPUs, use NewClusterWithIncrementalUpgrade, which needs enableInTreeAutoscaling and clusterUpgradeOptions with maxSurgePercent below 100, stepSizePercent, intervalSeconds and gatewayClassName. With None, no new cluster is created: to upgrade, delete and recreate the service.",
	.evidence =
		"https://docs.ray.io/en/latest/serve/production-guide/kubernetes.html",
	.check_object = check,
};
