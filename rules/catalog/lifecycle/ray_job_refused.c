/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ValidateRayJobSpec and ValidateClusterUpgradeOptions of KubeRay, by the first
 * version whose source has the check: a ttl 1.4; deletionRules, SidecarMode and
 * incremental upgrades 1.5 (v1.7.0 has all).
 */
#include "engine/rule.h"
#include "kube/lifecycle/lifecycle.h"
#include "kube/operators/ray.h"

static void check_ttl(struct rule_run *run, const struct object *object,
		      const struct node *spec)
{
	const struct node *at = node_get(spec, "ttlSecondsAfterFinished");
	struct finding *f;
	int64_t ttl;

	if (!node_int(at, &ttl) || ttl <= 0)
		return;
	f = report_object(run, object, at,
			  "KubeRay 1.4 and later reject "
			  "`ttlSecondsAfterFinished` without "
			  "`shutdownAfterJobFinishes: true`, and earlier ones "
			  "ignore it");
	fix_set(finding_fix(run, f, false,
			    "set `shutdownAfterJobFinishes: true`"),
		spec, "shutdownAfterJobFinishes",
		edit_bool(rule_arena(run), true));
}

static void check_job(struct rule_run *run, const struct object *object,
		      const struct node *spec)
{
	const struct node *shutdown =
		node_get(spec, "shutdownAfterJobFinishes");
	const struct node *suspend = node_get(spec, "suspend");
	const struct node *rules =
		node_path(spec, "deletionStrategy.deletionRules");
	const struct node *template = node_get(spec, "submitterPodTemplate");

	if (!node_is_true(shutdown) && !node_is_unknown(shutdown) &&
	    !object->fragment) {
		if (node_is_true(suspend))
			report_object(run, object, suspend,
				      "KubeRay rejects `suspend: true` without "
				      "`shutdownAfterJobFinishes: true`");
		check_ttl(run, object, spec);
	}
	if (node_is_true(shutdown) && node_count(rules))
		report_object(
			run, object, rules,
			"KubeRay rejects deletionRules together with `shutdownAfterJobFinishes: true`");
	if (node_eq(node_get(spec, "submissionMode"), "SidecarMode") &&
	    node_is_map(template))
		report_object(run, object, template,
			      "KubeRay rejects a submitterPodTemplate with "
			      "`submissionMode: SidecarMode`");
}

/* A required field of clusterUpgradeOptions that is not set. */
static const char *missing_option(const struct node *options)
{
	static const char *const names[] = {
		"stepSizePercent", "intervalSeconds", "gatewayClassName", NULL};

	for (const char *const *name = names; *name; name++)
		if (node_is_unset(node_get(options, *name)))
			return *name;
	return NULL;
}

static void check_upgrade(struct rule_run *run, const struct object *object)
{
	const struct node *spec = node_get(object->root, "spec");
	const struct node *type = node_path(spec, "upgradeStrategy.type");
	const struct node *options =
		node_path(spec, "upgradeStrategy.clusterUpgradeOptions");
	const struct node *scales =
		node_path(spec, "rayClusterConfig.enableInTreeAutoscaling");
	const char *missing = missing_option(options);

	if (!node_eq(type, "NewClusterWithIncrementalUpgrade") ||
	    object->fragment)
		return;
	if (!node_is_true(scales) && !node_is_unknown(scales))
		report_object(run, object, type,
			      "KubeRay rejects an incremental upgrade without "
			      "`enableInTreeAutoscaling: true`");
	if (missing && !node_is_unknown(options))
		report_object(run, object, options ? options : type,
			      "KubeRay rejects an incremental upgrade without "
			      "`clusterUpgradeOptions.%s`",
			      missing);
}

static void check(struct rule_run *run, const struct object *object)
{
	const struct node *spec = ray_job_spec(object);

	if (!object_gpu_pod(object))
		return;
	if (spec)
		check_job(run, object, spec);
	else if (object_is(object, "ray.io", "RayService"))
		check_upgrade(run, object);
}

const struct rule rule_ray_job_refused = {
	.name = "ray-job-refused",
	.category = "lifecycle",
	.severity = SEVERITY_ERROR,
	.flags = RULE_OPT_IN_PATCH,
	.since = "1.0",
	.summary = "a RayJob or RayService that KubeRay rejects",
	.why = "The object is accepted but nothing starts; KubeRay reports the reason only in an event.",
	.remedy = "Set or remove the field named in the message.",
	.evidence =
		"https://github.com/ray-project/kuberay/blob/master/ray-operator/controllers/ray/utils/validation.go",
	.check_object = check,
};
