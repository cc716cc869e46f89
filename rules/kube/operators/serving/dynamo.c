/* SPDX-License-Identifier: Apache-2.0 */
/* NVIDIA Dynamo: devices, /dev/shm and gangs of its kinds. */
#include "rules/kube/operator.h"

static void gpus(struct pod_builder *builder, struct pod *pod)
{
	pod_add_device_quantity(builder, pod, NULL,
				node_path(pod->source, "resources.limits.gpu"));
}

/* The operator mounts /dev/shm, by default with 8Gi. sharedMemory.disabled in
 * v1alpha1, and the size 0 in v1beta1, turn that off. */
static unsigned injects(const struct pod_builder *builder,
			const struct pod *pod)
{
	const struct node *component = pod->made ? pod->source : pod->group;
	const struct node *size = node_get(component, "sharedMemorySize");
	struct quantity q;

	if (node_is_true(node_path(component, "sharedMemory.disabled")))
		return 0;
	if (node_quantity(size, &q) == QUANTITY_OK && q.nano == 0)
		return 0;
	return INJECT_SHM;
}

static struct gang gang(const struct object *object)
{
	struct gang out = {.n = amount_of(1)};

	FOR_EACH_POD(object, pod) {
		const struct node *nodes =
			node_path(pod->group, "multinode.nodeCount");

		if (!node_is_unset(nodes))
			out.by_operator = true;
		out.n = amount_max(out.n, amount_int(nodes, 1));
	}
	return out;
}

const struct workload_operator operator_dynamo = {
	.gpus = gpus,
	.injects = injects,
	.gang = gang,
	/* Workers get a startupProbe of 2 h, which a livenessProbe of the
	 * component does not replace (zxue2/dynamo@e20adb4, a fork of
	 * ai-dynamo/dynamo: component_worker.go, graph.go). */
	.pods.bounds_start = true,
};
