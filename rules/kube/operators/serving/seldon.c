/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Seldon Core, v1 and v2: devices, /dev/shm, and the container that the
 * operator adds. Sources: seldondeployment_engine.go (adds the orchestrator
 * container to the first pod of a predictor); in v2, the Triton server config
 * mounts /dev/shm.
 */
#include "rules/kube/operator.h"

#include "base/text.h"

static unsigned injects(const struct pod_builder *builder,
			const struct pod *pod)
{
	const struct node *config = node_get(pod->group, "serverConfig");

	if (node_eq(config, "triton"))
		return INJECT_SHM;
	return node_eq(config, "mlserver") ? 0 : INJECT_SHM_UNKNOWN;
}

static void gpus(struct pod_builder *builder, struct pod *pod)
{
	if (!pod->template->index)
		pod_add_sidecar_devices(
			builder, pod,
			node_path(builder->group, "svcOrchSpec.resources"));
}

/* The orchestrator container of v1 sets cpu requests. */
static bool adds_helper(const struct pod *pod)
{
	return text_eq(pod->object->group, "machinelearning.seldon.io");
}

const struct workload_operator operator_seldon = {
	.gpus = gpus,
	.injects = injects,
	.pods.adds_helper = adds_helper,
};
