/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flux Framework: counts the pods of a MiniCluster, and those that start
 * together. A MiniCluster is an indexed Job whose pods are the brokers of one
 * Flux instance. It starts with `size` brokers, each on a separate node, and
 * may grow to `maxSize`. Source: flux-operator
 * api/v1alpha2/minicluster_types.go, controllers/flux/job.go, pods.go (the pod
 * of the services).
 */
#include "rules/kube/operator.h"

COUNT_FORMULA(flux_max)
{
	return amount_max(amount_field(at, "size", 1),
			  amount_field(at, "maxSize", 0));
}

/* True if Kueue manages the Job by its labels. */
static bool is_queued(const struct object *object)
{
	const struct node *labels = node_path(object->root, "spec.jobLabels");

	return field_is_set(labels, "kueue.x-k8s.io/queue-name");
}

static struct gang gang(const struct object *object)
{
	const struct node *spec = node_get(object->root, "spec");

	return (struct gang){.n = amount_field(spec, "size", 1),
			     .needed = true,
			     .by_operator = is_queued(object)};
}

const struct workload_operator operator_flux = {
	.gang = gang,
};
