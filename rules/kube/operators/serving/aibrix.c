/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AIBrix: the pods of a StormService, and of its RoleSets, that start together.
 */
#include "rules/kube/operator.h"

static struct gang gang(const struct object *object)
{
	const struct node *spec = node_get(object->root, "spec");
	struct gang out = {.n = amount_of(1), .needed = true};

	if (!node_is_unset(node_path(spec, "template.spec")))
		spec = node_path(spec, "template.spec");
	if (!node_is_unset(node_get(spec, "schedulingStrategy"))) {
		out.n = gang_sum(object);
		out.by_operator = true;
		return out;
	}
	FOR_EACH_POD(object, pod)
		out.n = amount_max(
			out.n,
			amount_int(node_get(pod->group, "podGroupSize"), 1));
	return out;
}

const struct workload_operator operator_aibrix = {
	.gang = gang,
	.makes_pod_groups = true,
};
