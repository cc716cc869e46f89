/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports notebooks with GPUs, which keep them while they are idle unless the
 * notebook controller culls them. Skips stopped notebooks, which have no pod.
 */
#include "engine/rule.h"
#include "kube/lifecycle/lifecycle.h"

static void check(struct rule_run *run, const struct object *object)
{
	if (!object_is(object, "kubeflow.org", "Notebook") ||
	    !object_gpu_pod(object) || object->gpus.unknown ||
	    object->gpus.n < 1)
		return;
	report_object(
		run, object, NULL,
		"%s keeps %s while it is idle, unless the notebook controller culls idle notebooks",
		rule_title(run, object->kind, object->name),
		rule_count(run, object->gpus.n, object_device(object)));
}

const struct rule rule_notebook_gpu_culling = {
	.name = "notebook-gpu-culling",
	.category = "lifecycle",
	.severity = SEVERITY_INFO,
	.flags = RULE_PREVIEW,
	.scope = GPU_PODS,
	.summary = "a notebook that may keep its GPUs while it is idle",
	.why = "Notebooks are often left open for days, with GPUs that are allocated but idle.",
	.remedy =
		"Enable culling (ENABLE_CULLING of the notebook controller), or let notebooks share GPUs.",
	.evidence =
		"https://www.kubeflow.org/docs/components/notebooks/overview/; https://github.com/kubeflow/kubeflow/tree/master/components/notebook-controller",
	.check_object = check,
};
