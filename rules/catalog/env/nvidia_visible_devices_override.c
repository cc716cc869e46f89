/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVIDIA_VISIBLE_DEVICES written into a manifest. It is the device plugin's
 * variable: the kubelet puts the plugin's value first and appends the
 * container's own, which the runtime then obeys. With a limit it overrides
 * the allocation, without one it takes GPUs that nobody counts. Only hiding
 * (void, none, empty) is harmless.
 *
 * Sources: kubelet GenerateRunContainerOptions; nvidia-container-toolkit
 * internal/config/image/cuda_image.go; k8s-device-plugin README, #61, #1605.
 */
#include "engine/rule.h"
#include "kube/env.h"
#include "kube/intent.h"

/* With a device of its own: the plugin's value. Without: none to be seen. */
static void repair(struct rule_run *run, struct finding *f,
		   const struct container *c, const char *name)
{
	const struct node *entry = container_env(c, name);
	bool gpu = c->gpus.n > 0;

	if (c->pod->flat)
		return;
	if (gpu || container_uses_gpu(c) == TRI_YES) {
		if (container_env_is_free(c, entry))
			fix_remove(
				finding_fix(run, f, gpu, "remove `%s`", name),
				entry);
	} else if (container_uses_gpu(c) == TRI_NO) {
		fix_set(finding_fix(run, f, false, "hide the GPUs"), entry,
			"value", NULL, edit_string(rule_arena(run), "void"));
	}
}

static void check(struct rule_run *run, const struct pod *pod)
{
	static const char name[] = "NVIDIA_VISIBLE_DEVICES";

	/* Schedulers that share devices set it themselves. */
	if (pod->gpu_by & (GPU_BY_ANNOTATION | GPU_BY_SHARE))
		return;
	FOR_EACH_CONTAINER(pod, c) {
		const char *of = c->name ? c->name : "";
		const struct node *at;
		enum visible visible = container_visible(c, name, &at);
		struct finding *f;

		if (visible != VISIBLE_ALL && visible != VISIBLE_SOME)
			continue;
		if (c->gpus.n > 0 || container_uses_gpu(c) != TRI_NO)
			f = report_container(
				run, c, at,
				"`%s: %s` overrides the devices that container "
				"`%s` is given",
				name, at->str, of);
		else
			f = report_container(
				run, c, at,
				"`%s: %s` shows container `%s` GPUs that it "
				"does not ask for",
				name, at->str, of);
		finding_cause(run, f, name);
		finding_help(run, f,
			     c->gpus.n > 0
				     ? "remove the variable: the device plugin "
				       "sets it"
				     : "ask for GPUs in `resources.limits`, or "
				       "set the variable to `void`");
		repair(run, f, c, name);
	}
}

const struct rule rule_nvidia_visible_devices_override = {
	.name = "nvidia-visible-devices-override",
	.category = "env",
	.severity = SEVERITY_ERROR,
	.action = ACTION_DENY,
	.flags = RULE_SAFE_PATCH,
	.since = "1.0",
	.summary = "NVIDIA_VISIBLE_DEVICES set in a manifest",
	.why = "The runtime obeys the pod's value: it overrides the device plugin's allocation, or shows GPUs that nobody counts.",
	.remedy = "Remove the variable and ask for GPUs in resources.limits.",
	.evidence =
		"kubelet GenerateRunContainerOptions; nvidia-container-toolkit cuda_image.go; k8s-device-plugin#61, #1605",
	.yields_to = (const char *const[]){"gpu-uuid-pinned", NULL},
	.check_pod = check,
};
