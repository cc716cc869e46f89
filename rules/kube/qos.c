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
static bool is_figure(const struct node *value)
{
	struct quantity q;

	return !node_is_unset(value) &&
	       (node_quantity(value, &q) != QUANTITY_OK || q.nano);
}

static bool has_figure(const struct node *resources)
{
	const struct node *requests = node_get(resources, "requests");
	const struct node *limits = node_get(resources, "limits");

	return node_is_unknown(resources) ||
	       is_figure(node_get(requests, "cpu")) ||
	       is_figure(node_get(requests, "memory")) ||
	       is_figure(node_get(limits, "cpu")) ||
	       is_figure(node_get(limits, "memory"));
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
