/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports pods that request more CPUs or memory than the policy's share of
 * their GPUs. If the policy sets no share, it reports pods on a known instance
 * type that leave less than half a share for each other GPU.
 */
#include <string.h>

#include "engine/rule.h"
#include "kube/scheduling/node_devices.h"

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
		   "each pod requests %s %s, but the share of its %s is %s",
		   quantity_text(has, a), resource,
		   rule_count(run, pod->gpus.n, pod_device(pod)),
		   quantity_text(most, b));
}

static void check_type(struct rule_run *run, const struct pod *pod,
		       const struct node_devices *node, const char *resource,
		       struct quantity has)
{
	bool unknown = false;
	struct quantity need = pod_request(pod, resource, false, &unknown);
	int64_t others = node->most - pod->gpus.n;
	char need_text[QUANTITY_TEXT], left_text[QUANTITY_TEXT];
	struct quantity left = has;

	if (others < 1 || unknown || quantity_cmp(need, has) > 0)
		return;
	/* Return unless left / others < has / most / 2. */
	left.nano -= need.nano;
	if (quantity_cmp(quantity_mul(left, 2 * node->most),
			 quantity_mul(has, others)) >= 0)
		return;
	report_pod(
		run, pod, node->at,
		"each pod requests %s %s for %s: node type `%s` then has only %s for its other %s",
		quantity_text(need, need_text), resource,
		rule_count(run, pod->gpus.n, pod_device(pod)), node->type->name,
		quantity_text(left, left_text),
		rule_count(run, others, pod_device(pod)));
}

static void check(struct rule_run *run, const struct pod *pod)
{
	struct node_devices node;

	if (pod->flat || pod->gpus.unknown || pod->gpus.n < 1 ||
	    strcmp(pod_device(pod), "GPU") != 0)
		return;
	node = pod_node_devices(pod);
	check_ratio(run, pod, "cpu", "cpu");
	check_ratio(run, pod, "memory", "memory");
	if (!node.type || !node.type->cpus || rule_param_given(run, "cpu") ||
	    rule_param_given(run, "memory"))
		return;
	check_type(run, pod, &node, "cpu", quantity_from(node.type->cpus));
	check_type(run, pod, &node, "memory", instance_type_memory(node.type));
}

static const struct rule_param params[] = {
	{"cpu", "quantity", "",
	 "CPUs of a node per GPU, the share of each GPU"},
	{"memory", "quantity", "",
	 "memory of a node per GPU, the share of each GPU"},
	{0},
};

const struct rule rule_gpu_cpu_memory_ratio = {
	.name = "gpu-cpu-memory-ratio",
	.category = "resources",
	.severity = SEVERITY_WARNING,
	.flags = RULE_PREVIEW,
	.summary =
		"a pod requests more of a node's CPUs or memory than the share of its GPUs",
	.why = "If such pods fill a node, its CPUs or its memory are used up before its GPUs, and the remaining GPUs stay idle.",
	.remedy =
		"Request at most the share of the pod's GPUs, for example a quarter of the node's CPUs and memory for 2 of 8 GPUs.",
	.evidence = "https://github.com/kubernetes/autoscaler/issues/5394",
	.params = params,
	.check_pod = check,
};
