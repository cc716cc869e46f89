/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports workloads that are meant to use GPUs but request none. The scheduler
 * puts them on any node; if the nvidia runtime is the default, the variable
 * NVIDIA_VISIBLE_DEVICES=all of the image exposes every GPU of the node, which
 * nothing counts.
 *
 * Source: NVIDIA/k8s-device-plugin README ("if you don't request GPUs ... all
 * the GPUs on the machine will be exposed"), k8s-device-plugin#61, #87, #1605.
 * kube/purpose/purpose.h lists the signs of this intent.
 */
#include "base/array.h"
#include "base/text.h"
#include "engine/rule.h"
#include "kube/accelerator.h"
#include "kube/purpose/purpose.h"
#include "kube/scheduling/node_devices.h"

static const char *const reasons[] = {
	[INTENT_PROGRAM] = "it runs",
	[INTENT_RUNTIME_CLASS] = "the pod's runtime class is",
	[INTENT_SELECTOR] = "the pod selects nodes by",
	[INTENT_TOLERATION] = "the pod tolerates the taint",
	[INTENT_IMAGE] = "it runs the GPU image",
};

/* True for a number of processes, which may also compute on the CPU. */
static bool is_process_count(const struct intent *intent)
{
	return intent->by == INTENT_FLAG &&
	       text_eq(intent->what, "--nproc-per-node");
}

static struct finding *report_intent(struct rule_run *run,
				     const struct intent *intent)
{
	const struct container *c = intent->container;
	const char *name = container_title(c);
	const struct node *at = c->limits;

	if (node_is_unset(at))
		at = node_is_map(c->resources) ? c->resources : NULL;
	if (is_process_count(intent))
		return report_container(
			run, c, at,
			"container `%s` has no accelerator limit: if its %s processes (`%s`) use a GPU each, none is requested",
			name, rule_number(run, intent->devices), intent->what);
	if (intent->by == INTENT_FLAG)
		return report_container(
			run, c, at,
			"container `%s` needs %s (`%s`) but has no accelerator limit",
			name, rule_count(run, intent->devices, "GPU"),
			intent->what);
	return report_container(
		run, c, at,
		"container `%s` has no accelerator limit, though %s `%s`", name,
		reasons[intent->by], intent->what);
}

/* Returns the vendor of the devices that the sign is about; "nvidia" if it
 * shows none. */
static const char *vendor_of(struct rule_run *run, const struct intent *intent)
{
	const struct accelerator *tolerated;
	const char *vendor = NULL;

	if (intent->by == INTENT_SELECTOR)
		vendor = node_label_vendor(intent->what, node_str(intent->at));
	if (intent->by == INTENT_TOLERATION) {
		tolerated =
			accelerator_find(rule_accelerators(run), intent->what);
		vendor = tolerated ? tolerated->vendor : NULL;
	}
	if (text_contains(intent->container->image, "rocm"))
		vendor = "amd";
	return vendor ? vendor : "nvidia";
}

/* Names the resource in the help if the vendor has only one. */
static void help(struct rule_run *run, struct finding *f,
		 const struct intent *intent)
{
	static const char *const usual[][2] = {
		{"amd", "amd.com/gpu"},
		{"google", "google.com/tpu"},
	};
	const char *vendor = vendor_of(run, intent);

	if (text_eq(vendor, "nvidia")) {
		finding_help(
			run, f,
			"Set `resources.limits` to `nvidia.com/gpu: %s`, or hide the GPUs with NVIDIA_VISIBLE_DEVICES=void.",
			rule_number(run,
				    intent->devices ? intent->devices : 1));
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(usual); i++)
		if (text_eq(vendor, usual[i][0])) {
			finding_help(
				run, f,
				"Request the devices, which are counted as `%s`, in `resources.limits`.",
				usual[i][1]);
			return;
		}
	finding_help(run, f, "Request the devices in `resources.limits`.");
}

static void check(struct rule_run *run, const struct pod *pod)
{
	struct intent intent;
	struct finding *f;

	if (pod_uses_gpu(pod) != TRI_NO || pod->injects & INJECT_GPU)
		return;
	intent = pod_gpu_intent(rule_accelerators(run), pod);
	if (intent.by == INTENT_NONE)
		return;
	f = report_intent(run, &intent);
	finding_missing(f, pod->object, intent.container->node,
			"resources.limits");
	help(run, f, &intent);
	if (intent.at)
		finding_label(run, f, intent.at, "this indicates GPU work");
	if (intent.by == INTENT_IMAGE || intent.by == INTENT_TOLERATION ||
	    is_process_count(&intent))
		finding_severity(f, SEVERITY_WARNING);
	if (intent.by == INTENT_IMAGE || intent.by == INTENT_PROGRAM ||
	    intent.by == INTENT_FLAG)
		finding_guess(run, f);
}

static const char *const yields_to[] = {
	"gpu-request-without-limit",
	"gpu-request-limit-mismatch",
	"gpu-fractional-quantity",
	"gpu-request-implicit-in-template",
	"gpu-resource-name-unknown",
	"gpu-pod-level-resource",
	"nvidia-visible-devices-override",
	"nvidia-device-mount-bypass",
	"quantity-invalid",
	"field-type-invalid",
	NULL,
};

const struct rule rule_gpu_limit_missing = {
	.name = "gpu-limit-missing",
	.category = "resources",
	.severity = SEVERITY_ERROR,
	.flags = RULE_ABSENCE,
	.summary = "a workload made for GPUs requests no accelerator",
	.why = "The pod is placed on any node: there it has no GPU, or it sees every GPU of the node, and none of them is counted.",
	.remedy =
		"Request the devices in resources.limits, or set NVIDIA_VISIBLE_DEVICES=void if the workload needs none.",
	.evidence =
		"https://github.com/NVIDIA/k8s-device-plugin; https://github.com/NVIDIA/k8s-device-plugin/issues/61, https://github.com/NVIDIA/k8s-device-plugin/issues/87, https://github.com/NVIDIA/k8s-device-plugin/issues/1605",
	.yields_to = yields_to,
	.check_pod = check,
};
