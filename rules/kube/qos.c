/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Source: pkg/apis/core/v1/helper/qos ComputePodQOS. Operators that add
 * containers or limits of their own: Knative's queue-proxy, Seldon's engine,
 * KubeRay's autoscaler beside the head.
 */
#include "kube/qos.h"

#include <string.h>

#include "base/text.h"

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

bool pod_is_besteffort(const struct pod *pod)
{
	if (pod->injects & INJECT_MEMORY || gets_helper(pod) ||
	    has_figure(pod_field(pod, "resources")))
		return false;
	FOR_EACH_CONTAINER(pod, c)
		if (has_figure(c->resources))
			return false;
	return true;
}
