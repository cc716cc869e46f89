/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A GPU pod without any cpu or memory figure is BestEffort: the class looks at
 * cpu and memory only, extended resources do not count. Such a pod is the
 * first to be evicted and to be killed for memory, and a quota that names
 * cpu or memory forbids it.
 *
 * Source: pkg/apis/core/v1/helper/qos ComputePodQOS.
 */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/intent.h"

/* A figure for cpu or memory, or something that may hide one. */
static bool has_figure(const struct node *resources)
{
	static const char *const maps[] = {"requests", "limits"};
	static const char *const names[] = {"cpu", "memory"};

	if (node_is_unknown(resources))
		return true;
	for (int m = 0; m < 2; m++)
		for (int n = 0; n < 2; n++) {
			const struct node *value = node_get(
				node_get(resources, maps[m]), names[n]);
			struct quantity q;

			if (node_is_unset(value))
				continue;
			if (node_quantity(value, &q) != QUANTITY_OK || q.nano)
				return true;
		}
	return false;
}

/* Helpers that an operator adds with cpu requests of their own: Knative's
 * queue-proxy (and Seldon's engine), KubeRay's autoscaler beside the head. */
static bool gets_helper(const struct pod *pod)
{
	const char *group = pod->object->group;
	const struct node *cluster = pod->group ? pod->group->parent : NULL;

	return text_eq(group, "serving.knative.dev") ||
	       text_eq(group, "machinelearning.seldon.io") ||
	       (!strcmp(pod->role, "Head") &&
		node_is_true(node_get(cluster, "enableInTreeAutoscaling")));
}

static void check(struct rule_run *run, const struct pod *pod)
{
	int64_t n = pod->gpus.n > 0 ? pod->gpus.n : 1;
	struct finding *f;

	if (pod_uses_gpu(pod) != TRI_YES || pod->flat || !pod->ncontainers ||
	    pod->injects & INJECT_MEMORY || pod_is_preset(pod) ||
	    gets_helper(pod))
		return;
	if (has_figure(pod_field(pod, "resources")))
		return;
	FOR_EACH_CONTAINER(pod, c)
		if (has_figure(c->resources))
			return;
	f = report_pod(run, pod, node_get(pod->spec, "containers"),
		       "no container sets cpu or memory: the GPU pod is "
		       "BestEffort and the first to be evicted");
	finding_help(run, f,
		     "set requests, for instance `cpu: %" PRId64
		     "` and `memory: %" PRId64 "Gi` for its %" PRId64
		     " accelerator%s",
		     8 * n, 32 * n, n, n == 1 ? "" : "s");
}

const struct rule rule_gpu_pod_besteffort = {
	.name = "gpu-pod-besteffort",
	.category = "resources",
	.severity = SEVERITY_WARNING,
	.action = ACTION_PATCH,
	.flags = RULE_ABSENCE | RULE_OPT_IN_PATCH,
	.since = "1.0",
	.summary = "a GPU pod without any cpu or memory figure",
	.why = "Accelerators do not count for the QoS class: the pod is BestEffort, evicted and killed before all others, and forbidden where a quota names cpu or memory.",
	.remedy = "Set cpu and memory requests on the containers that compute.",
	.evidence = "pkg/apis/core/v1/helper/qos",
	.check_pod = check,
};
