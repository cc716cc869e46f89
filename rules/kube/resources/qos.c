/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Source: pkg/apis/core/v1/helper/qos ComputePodQOS.
 */
#include "kube/resources/qos.h"

#include "rules/kube/operator.h"

/* True for a cpu or memory value, or something that may hide one. */
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

/* True if the operator adds a helper container with cpu requests. */
static bool gets_helper(const struct pod *pod)
{
	const struct workload_operator *by = object_operator(pod->object);

	return by->adds_helper && by->adds_helper(pod);
}

bool pod_is_besteffort(const struct pod *pod)
{
	/* GKE adds a container with requests. */
	if (pod_annotation(pod, "gke-gcsfuse/volumes"))
		return false;
	if (pod->injects & INJECT_MEMORY || gets_helper(pod) ||
	    has_figure(pod_field(pod, "resources")))
		return false;
	FOR_EACH_CONTAINER(pod, c)
		if (has_figure(c->resources))
			return false;
	return true;
}
