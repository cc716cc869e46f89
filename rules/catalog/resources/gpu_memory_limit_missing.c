/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports GPU containers without a memory limit. If the node runs out of
 * memory, the kernel may kill processes of other pods; a /dev/shm without
 * sizeLimit may fill the node's memory.
 *
 * Source: pkg/volume/emptydir calculateEmptyDirMemorySize (the pod's memory
 * limit, else the node's allocatable).
 */
#include "engine/rule.h"
#include "kube/purpose/purpose.h"

static bool is_bounded(const struct node *resources)
{
	const struct node *limits = node_get(resources, "limits");

	return node_is_unknown(limits) ||
	       !node_is_unset(node_get(limits, "memory"));
}

static bool computes(const struct container *c)
{
	if (c->role == CONTAINER_INIT)
		return false;
	return c->gpus.n > 0 || container_uses_gpu(c) == TRI_YES;
}

static void report(struct rule_run *run, const struct container *c,
		   enum tri defaults)
{
	struct finding *f = report_container(
		run, c, node_is_map(c->limits) ? c->limits : c->resources,
		"%s container `%s` has no memory limit%s", pod_device(c->pod),
		container_title(c),
		defaults == TRI_NO
			? ": it may use up the node's memory"
			: ": if no LimitRange sets one, it may use up the node's memory");

	finding_missing(f, c->pod->object, c->node, "resources.limits.memory");
	if (defaults == TRI_UNKNOWN)
		finding_severity(f, SEVERITY_INFO);
}

static void check(struct rule_run *run, const struct pod *pod)
{
	enum tri defaults;

	if (pod->injects & INJECT_MEMORY || pod_is_preset(pod) ||
	    is_bounded(pod_field(pod, "resources")))
		return;
	defaults = rule_limit_default(run, pod->object, "memory");
	if (defaults == TRI_YES)
		return;
	FOR_EACH_CONTAINER(pod, c) {
		if (computes(c) && !is_bounded(c->resources))
			report(run, c, defaults);
	}
}

const struct rule rule_gpu_memory_limit_missing = {
	.name = "gpu-memory-limit-missing",
	.category = "resources",
	.severity = SEVERITY_WARNING,
	.flags = RULE_ABSENCE,
	.scope = GPU_PODS | PODSPEC,
	.summary = "a GPU container without a memory limit",
	.why = "If the container's memory grows, the node may run out of memory, and the kernel may kill processes of other pods. A /dev/shm without a sizeLimit may also use up the node's memory.",
	.remedy =
		"Set limits.memory to the amount that the container needs, including /dev/shm.",
	.evidence =
		"https://github.com/kubernetes/kubernetes/tree/master/pkg/volume/emptydir calculateEmptyDirMemorySize",
	.yields_to = (const char *const[]){"gpu-pod-besteffort",
					   "quota-missing-cpu-memory", NULL},
	.check_pod = check,
};
