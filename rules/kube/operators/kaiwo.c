/* SPDX-License-Identifier: Apache-2.0 */
/* Kaiwo: devices that its kinds request in their fields, not in containers. */
#include "rules/kube/operator.h"

/* Adds the devices of gpusPerReplica, or else of gpus, as amd.com/gpu, unless
 * the pod already counts as a GPU pod. */
static void gpus(struct pod_builder *builder, struct pod *pod)
{
	const struct node *spec = node_get(builder->object->root, "spec");
	const struct node *each = node_get(spec, "gpusPerReplica");

	if (pod->gpu_by)
		return;
	if (node_is_unset(each))
		each = node_get(spec, "gpus");
	pod_add_devices(builder, pod, "amd.com/gpu", amount_int(each, 0));
}

const struct workload_operator operator_kaiwo = {
	.gpus = gpus,
};
