/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports pods that request NVIDIA GPUs without a runtime class, if the policy
 * requires one. The rule is off until the policy names the class.
 */
#include "base/text.h"
#include "engine/rule.h"

static bool is_nvidia(const struct pod *pod)
{
	FOR_EACH_CONTAINER(pod, c)
		if (c->gpus.n > 0 && c->accelerator &&
		    text_eq(c->accelerator->vendor, "nvidia"))
			return true;
	return false;
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const char *class = rule_param(run, "class");
	struct finding *f;

	if (!*class || !is_nvidia(pod) || !pod->template ||
	    !node_is_unset(pod_field(pod, "runtimeClassName")))
		return;
	f = report_pod(
		run, pod, pod->spec,
		"`runtimeClassName` is not set: the policy requires `%s`",
		class);
	finding_missing(f, pod->object, pod->spec, "runtimeClassName");
	fix_set(finding_fix(run, f, false, "set `runtimeClassName: %s`", class),
		pod->spec, "runtimeClassName",
		edit_string(rule_arena(run), class));
}

static const struct rule_param params[] = {
	{"class", "string", "", "runtimeClassName that GPU pods must have"},
	{0},
};

const struct rule rule_runtimeclass_missing = {
	.name = "runtimeclass-missing",
	.category = "scheduling",
	.severity = SEVERITY_WARNING,
	.needs = NEEDS_PARAM,
	.flags = RULE_PREVIEW | RULE_ABSENCE | RULE_OPT_IN_PATCH,
	.scope = PODSPEC,
	.summary =
		"a GPU pod sets no runtimeClassName, although the policy requires one",
	.why = "If the NVIDIA runtime is not the default runtime, the container starts without the driver.",
	.remedy = "Set runtimeClassName to the class that the policy requires.",
	.evidence =
		"https://github.com/NVIDIA/k8s-device-plugin#configure-containerd",
	.params = params,
	.check_pod = check,
};
