/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Off until the policy gives the shares, which are those of GPUs.
 */
#include <inttypes.h>
#include <string.h>

#include "engine/rule.h"

static void check_ratio(struct rule_run *run, const struct pod *pod,
			const char *resource, const char *param)
{
	struct quantity most, has;
	char a[QUANTITY_TEXT], b[QUANTITY_TEXT];
	bool unknown = false;

	if (!rule_param_given(run, param))
		return;
	most = quantity_mul(rule_param_quantity(run, param), pod->gpus.n);
	has = pod_request(pod, resource, false, &unknown);
	if (unknown || quantity_cmp(has, most) <= 0)
		return;
	report_pod(run, pod, NULL,
		   "the pods request %s of %s, but their share for %" PRId64
		   " %s%s is %s",
		   quantity_text(has, a), resource, pod->gpus.n,
		   pod_device(pod), pod->gpus.n == 1 ? "" : "s",
		   quantity_text(most, b));
}

static void check(struct rule_run *run, const struct pod *pod)
{
	if (pod->flat || pod->gpus.unknown || pod->gpus.n < 1 ||
	    strcmp(pod_device(pod), "GPU") != 0)
		return;
	check_ratio(run, pod, "cpu", "cpu");
	check_ratio(run, pod, "memory", "memory");
}

static const struct rule_param params[] = {
	{"cpu", "quantity", "", "CPUs that a node has per GPU"},
	{"memory", "quantity", "", "memory that a node has per GPU"},
	{0},
};

const struct rule rule_gpu_cpu_memory_ratio = {
	.name = "gpu-cpu-memory-ratio",
	.category = "resources",
	.severity = SEVERITY_WARNING,
	.needs = NEEDS_PARAM,
	.flags = RULE_PREVIEW,
	.since = "1.0",
	.summary = "a pod requests more CPUs or memory per GPU than a node has",
	.why = "The CPUs or the memory of the node are used up before its GPUs, so the remaining GPUs stay idle.",
	.remedy = "Request at most the share of each GPU.",
	.evidence = "https://github.com/kubernetes/autoscaler/issues/5394",
	.params = params,
	.check_pod = check,
};
