/* SPDX-License-Identifier: Apache-2.0 */
/* The vLLM production stack: devices and parallelism of its kinds. */
#include "rules/kube/operator.h"

static void gpus(struct pod_builder *builder, struct pod *pod)
{
	pod_add_device_quantity(builder, pod,
				node_path(pod->spec, "resources.gpuType"),
				node_path(pod->spec, "resources.gpu"));
}

static unsigned injects(const struct pod_builder *builder,
			const struct pod *pod)
{
	return node_is_unset(node_get(pod->spec, "shmSize")) ? 0 : INJECT_SHM;
}

/* Returns the field that the operator passes as --tensor-parallel-size. */
static const struct node *tensor(const struct container *c)
{
	return node_path(c->pod->group, "vllmConfig.tensorParallelSize");
}

const struct workload_operator operator_vllm = {
	.tensor = tensor,
	.gpus = gpus,
	.injects = injects,
};
