/* SPDX-License-Identifier: Apache-2.0 */
/*
 * KAITO: devices of its kinds, which request them by instance type. Presets
 * need a GPU; a RAGEngine can run without one.
 */
#include "rules/kube/operator.h"

#include <string.h>

static void gpus(struct pod_builder *builder, struct pod *pod)
{
	const struct node *resource = node_get(pod->spec, "resource");
	const struct instance_type *type = NULL;
	struct amount n = {.n = 1, .unknown = true};
	bool always = strcmp(builder->object->kind, "RAGEngine") != 0;
	const char *name;

	if (pod->gpu_by)
		return;
	if (node_is_unset(resource))
		resource = node_get(pod->spec, "compute");
	name = node_str(node_get(resource, "instanceType"));
	if (name)
		type = instance_type_find(name);
	if (type)
		n = amount_of(type->accelerators);
	if (type || always)
		pod_add_devices(builder, pod, "nvidia.com/gpu", n);
	else if (!node_is_unset(node_get(resource, "instanceType")))
		pod->gpu_unknown = true;
}

const struct workload_operator operator_kaito = {
	.gpus = gpus,
};
