/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports Ray nodes whose num-gpus is not the number of GPUs of their first
 * container, in which KubeRay starts Ray, or whose GPUs another container has.
 * On a head, num-gpus: 0 means that it gets no GPU work and is accepted.
 * Source: kuberay common/pod.go, RayContainerIndex.
 */
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/command/parallel.h"
#include "kube/operators.h"

static bool is_ray(const struct container *c)
{
	const char *image = node_str(node_get(c->node, "image"));

	return strstr(container_title(c), "ray") ||
	       (image && strstr(image, "ray"));
}

/* Reports a Ray container with GPUs that is not the first one, in which KubeRay
 * starts Ray. */
static void check_order(struct rule_run *run, const struct pod *pod,
			const struct container *first)
{
	if (is_ray(first) || first->gpus.unknown || first->gpus.n)
		return;
	FOR_EACH_CONTAINER(pod, c)
		if (c->role == CONTAINER_MAIN && c != first &&
		    container_devices(c) && is_ray(c)) {
			report_container(
				run, first, first->node,
				"KubeRay starts Ray in the first container, `%s`, which requests no GPU: Ray does not use the GPUs of `%s`",
				container_title(first), container_title(c));
			return;
		}
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct node *at;
	const struct container *c = NULL;
	struct finding *f;
	int64_t n, has;

	if (!text_eq(pod->object->group, "ray.io"))
		return;
	FOR_EACH_CONTAINER(pod, other)
		if (other->role == CONTAINER_MAIN && !other->index)
			c = other;
	if (c)
		check_order(run, pod, c);
	n = ray_num_gpus(pod, &at);
	has = c ? container_devices(c) : 0;
	if (!has || n < 0 || n == has || (!n && !strcmp(pod->role, "Head")))
		return;
	f = report_pod(run, pod, at,
		       "Ray is configured with %s, but container `%s` has %s",
		       rule_count(run, n, pod_device(pod)), container_title(c),
		       rule_number(run, has));
	if (n > has)
		finding_severity(f, SEVERITY_ERROR);
	fix_remove(
		finding_fix(
			run, f, false,
			"remove `num-gpus`; KubeRay derives it from the limits"),
		at);
}

const struct rule rule_ray_num_gpus_mismatch = {
	.name = "ray-num-gpus-mismatch",
	.category = "parallelism",
	.severity = SEVERITY_WARNING,
	.flags = RULE_RAISES | RULE_OPT_IN_PATCH,
	.summary =
		"Ray is configured with a different number of GPUs than its container has, or starts in a container without GPUs",
	.why = "Ray schedules work on GPUs that its container does not have, or leaves GPUs of the pod idle.",
	.remedy =
		"Put the Ray container first, and remove num-gpus: KubeRay derives it from the limits of the first container.",
	.evidence =
		"https://github.com/ray-project/kuberay/blob/master/ray-operator/controllers/ray/common/pod.go",
	.check_pod = check,
};
