/* SPDX-License-Identifier: Apache-2.0 */
/*
 * On a head 0 keeps work away from it.
 */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/command/parallel.h"
#include "kube/operators/ray.h"

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
	n = ray_num_gpus(pod, &at);
	has = c ? container_devices(c) : 0;
	if (!has || n < 0 || n == has || (!n && !strcmp(pod->role, "Head")))
		return;
	f = report_pod(run, pod, at,
		       "Ray is configured with %" PRId64
		       " %s%s, but container `%s` has %" PRId64,
		       n, pod_device(pod), n == 1 ? "" : "s",
		       container_title(c), has);
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
	.since = "1.0",
	.summary =
		"num-gpus in rayStartParams differs from the limits of the Ray container",
	.why = "Ray schedules work on GPUs that the container does not have, or leaves some of its GPUs idle.",
	.remedy =
		"Remove num-gpus; KubeRay derives it from the limits of the first container.",
	.evidence =
		"https://github.com/ray-project/kuberay/blob/master/ray-operator/controllers/ray/common/pod.go",
	.check_pod = check,
};
