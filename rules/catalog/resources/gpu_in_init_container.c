/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports init containers that request more devices than the main containers.
 * The pod reserves the larger number for its whole life, so the difference is
 * idle after the start.
 *
 * Source: component-helpers resource/helpers.go (max of init and main); a
 * comment in KubeRay common/pod.go on GKE Autopilot.
 */
#include "engine/rule.h"

/* Sets the help. If the main containers request no device, the request may be
 * in the wrong container, because they get none of the init container's
 * devices: the finding becomes a warning. */
static void advise(struct rule_run *run, struct finding *f,
		   const struct pod *pod, int64_t main)
{
	if (main) {
		finding_help(
			run, f,
			"Do the init container's work with fewer devices, or in a separate Job.");
		return;
	}
	finding_severity(f, SEVERITY_WARNING);
	finding_help(
		run, f,
		"If a main container uses the %s, request it there, because it does not get the init container's devices.",
		pod_device(pod));
}

static void check(struct rule_run *run, const struct pod *pod)
{
	struct amount main = {0};
	struct finding *f;

	FOR_EACH_CONTAINER(pod, c) {
		if (c->role == CONTAINER_INIT)
			continue;
		main.n += c->gpus.n;
		main.unknown |= c->gpus.unknown;
	}
	if (main.unknown || pod->gpu_unknown || pod->gpu_by & GPU_BY_CLAIM)
		return;
	FOR_EACH_CONTAINER(pod, c) {
		if (c->role != CONTAINER_INIT || c->gpus.n <= main.n ||
		    !accelerator_counts(c->accelerator))
			continue;
		f = report_container(
			run, c, node_get(container_limits(c), c->resource),
			"init container `%s` requests %s, but the main containers request %s: the pod holds %s for its whole life",
			container_title(c),
			rule_count(run, c->gpus.n, "device"),
			rule_number(run, main.n), rule_number(run, c->gpus.n));
		advise(run, f, pod, main.n);
	}
}

const struct rule rule_gpu_in_init_container = {
	.name = "gpu-in-init-container",
	.category = "resources",
	.severity = SEVERITY_INFO,
	.summary =
		"an init container requests more accelerators than the pod's main containers",
	.why = "A pod reserves the larger of the two numbers for its whole life: devices that only the init container used stay idle.",
	.remedy =
		"Request devices in the container that uses them. If only the init container uses them, do that work in a separate Job beforehand.",
	.evidence =
		"https://github.com/kubernetes/component-helpers/blob/master/resource/helpers.go",
	.check_pod = check,
};
