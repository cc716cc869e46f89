/* SPDX-License-Identifier: Apache-2.0 */
/* The vLLM production stack: devices, /dev/shm and parallelism of its kinds. */
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

static struct vllm_settings vllm(const struct container *c)
{
	const struct node *tensor =
		node_path(c->pod->group, "vllmConfig.tensorParallelSize");

	return (struct vllm_settings){
		.program = node_is_unset(tensor) ? NULL : "vLLM",
		.tensor = tensor,
	};
}

const struct workload_operator operator_vllm = {
	.vllm = vllm,
	.gpus = gpus,
	.injects = injects,
};
