/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports Ray objects that KubeRay rejects. Except for that of runtimeEnvYAML,
 * the checks are in rules/engine/rejections.
 */
#include "base/text.h"
#include "engine/rule.h"

static void check(struct rule_run *run, const struct object *object)
{
	const struct node *spec = node_get(object->root, "spec"), *at;

	if (object_is(object, "ray.io", "RayCronJob"))
		spec = node_get(spec, "jobTemplate");
	at = node_get(spec, "runtimeEnvYAML");
	if (text_eq(object->group, "ray.io") && !object->fragment &&
	    yaml_is_not_map(rule_arena(run), at))
		rule_report_rejection(run, NULL, at, "runtime-env",
				      "`runtimeEnvYAML` is not a YAML mapping");
	rule_check_rejections(run, object);
}

static const char *const aliases[] = {"ray-cluster-refused", "ray-job-refused",
				      "ray-resources-conflict", NULL};

const struct rule rule_kuberay_rejects = {
	.name = "kuberay-rejects",
	.category = "parallelism",
	.severity = SEVERITY_ERROR,
	.flags = RULE_OPT_IN_PATCH | RULE_ABSENCE,
	.aliases = aliases,
	.summary = "a Ray object that KubeRay rejects",
	.why = "KubeRay validates an object when it reconciles it: the API server stores the object, an event contains the error, and no pod is created.",
	.evidence =
		"https://github.com/ray-project/kuberay/blob/feeaf72facab4881ba2b179248bb67315634e229/ray-operator/controllers/ray/utils/validation.go",
	.rejections = &kuberay_rejections,
	.check_object = check,
};
