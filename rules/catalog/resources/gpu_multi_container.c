/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports pods in which two containers request devices. They get different
 * devices: the pod needs the sum, and neither process sees the other's GPU. A
 * copied sidecar doubles the cost.
 *
 * Skips containers that share one DRA claim, and hence the device, and TPU
 * slices, for which a container runs on each NUMA node of a machine. Skips
 * containers that limit the memory or the cores of their devices, and pods
 * that select nodes that share devices under the name of whole devices, where
 * both containers may get the same device. Skips pods in which each container
 * runs a different program that computes, and a model server next to a
 * container with a different number of devices.
 *
 * Source: kubelet device manager allocates per container; effective requests:
 * component-helpers resource/helpers.go.
 */
#include "base/array.h"
#include "base/text.h"
#include "engine/rule.h"
#include "kube/purpose/purpose.h"
#include "kube/scheduling/node_match.h"

/* True if the container limits the memory or the cores of its devices, so that
 * other containers may get the same ones (HAMi: nvidia.com/gpumem). */
static bool limits_share(const struct container *c)
{
	FOR_EACH_LIMIT(c, limit)
		if (limit->accelerator &&
		    limit->accelerator->class == ACCEL_SHARE)
			return true;
	return false;
}

static bool takes_devices(const struct container *c)
{
	/* Shares of a device are meant for several containers, so only whole
	 * devices and MIG slices count. */
	return c->role != CONTAINER_INIT && c->gpus.n > 0 && c->accelerator &&
	       (c->accelerator->class == ACCEL_WHOLE ||
		c->accelerator->class == ACCEL_MIG) &&
	       !limits_share(c);
}

static bool has_shares(struct rule_run *run, const struct container *c)
{
	FOR_EACH_LIMIT(c, limit)
		if (text_eq(limit->node->key, c->resource))
			return container_unit(rule_cluster(run), c, limit) ==
			       ACCEL_SHARED;
	return false;
}

/* True for the same program with the same arguments and environment. */
static bool is_copy(const struct container *a, const struct container *b)
{
	static const char *const keys[] = {"image", "command", "args", "env",
					   "envFrom"};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (!node_same(node_get(a->node, keys[i]),
			       node_get(b->node, keys[i])))
			return false;
	return true;
}

static bool is_second(const struct pod *pod, const struct container *copy)
{
	FOR_EACH_CONTAINER(pod, c) {
		if (c == copy)
			break;
		if (takes_devices(c) && is_copy(c, copy))
			return true;
	}
	return false;
}

/* Returns the container that may have its devices by mistake; NULL if each
 * container runs a different program that computes, which the author has
 * probably intended. */
static const struct container *find_other(const struct pod *pod,
					  const struct container *first)
{
	const struct container *second = NULL;

	FOR_EACH_CONTAINER(pod, c) {
		if (c == first || !takes_devices(c))
			continue;
		if (container_purpose(c) == PURPOSE_NONE || is_second(pod, c))
			return c;
		if (!second)
			second = c;
	}
	return second && container_purpose(first) != PURPOSE_NONE ? NULL
								  : second;
}

/* True if one of the containers is a model server, and the other one does not
 * have as many devices: the author has divided them. */
static bool is_division(const struct container *a, const struct container *b)
{
	return a->gpus.n != b->gpus.n &&
	       (container_purpose(a) == PURPOSE_SERVING ||
		container_purpose(b) == PURPOSE_SERVING);
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct container *first = NULL, *second;
	int64_t sum = 0;
	struct finding *f;

	FOR_EACH_CONTAINER(pod, c) {
		if (!takes_devices(c))
			continue;
		sum += c->gpus.n;
		if (!first)
			first = c;
	}
	second = first ? find_other(pod, first) : NULL;
	if (!second || text_eq(first->accelerator->vendor, "google") ||
	    is_division(first, second) || has_shares(run, second))
		return;
	f = report_container(
		run, second,
		node_get(container_limits(second), second->resource),
		"containers `%s` and `%s` both request devices, so the pod needs %s of them; unless the nodes share devices, the containers cannot use the same one",
		container_title(first), container_title(second),
		rule_number(run, sum));
	finding_label(run, f,
		      node_get(container_limits(first), first->resource),
		      "the other container's devices");
}

const struct rule rule_gpu_multi_container = {
	.name = "gpu-multi-container",
	.category = "resources",
	.severity = SEVERITY_WARNING,
	.summary = "more than one container of a pod requests accelerators",
	.why = "Each container gets its own devices: the pod needs the sum of them, and a quota counts the sum.",
	.remedy =
		"Request the devices only in the container that computes. To share one between containers, use a DRA claim, MPS or time-slicing.",
	.evidence =
		"kubelet device manager; https://github.com/kubernetes/component-helpers/blob/master/resource/helpers.go",
	.check_pod = check,
};
