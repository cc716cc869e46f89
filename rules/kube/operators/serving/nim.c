/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVIDIA's NIM Operator. The operator adds the devices of a profile, as
 * resources or as claims (draResources).
 */
#include "rules/kube/operator.h"

#include <string.h>

#include "base/text.h"

/* NIM creates the claim itself: devices with class and count. */
static void made_claim(struct pod *pod, const struct node *spec)
{
	FOR_EACH_CHILD(node_get(spec, "devices"), device) {
		const char *class =
			node_str(node_get(device, "deviceClassName"));
		/* gpu.nvidia.com by default */
		bool domain = text_contains_ci(class, "compute");

		pod_add_claim(pod, domain ? TRI_NO : TRI_YES,
			      amount_int(node_get(device, "count"), 1));
	}
}

static bool claim(struct pod *pod, const struct node *entry)
{
	const struct node *made = node_get(entry, "claimCreationSpec");

	if (node_is_unset(made))
		return false;
	made_claim(pod, made);
	return true;
}

/* NIM: the profile's tensor parallelism; 1 without a profile. */
static void gpus(struct pod_builder *builder, struct pod *pod)
{
	const struct node *parallelism =
		node_path(pod->spec, "multiNode.parallelism");
	struct container *c = pod_main_container(pod);
	struct amount n = {.n = 1, .unknown = true};

	if (pod->gpu_by || (c && c->gpus.unknown))
		return;
	if (!node_is_unset(node_get(pod->spec, "draResources")))
		return;
	if (!node_is_unset(node_get(parallelism, "tensor")))
		n = amount_int(node_get(parallelism, "tensor"), 1);
	pod_add_devices(builder, pod, "nvidia.com/gpu", n);
}

/* KServe sets cpu and memory of the containers it adds (v1beta1). */
static unsigned injects(const struct pod_builder *builder,
			const struct pod *pod)
{

	return node_eq(node_get(pod->spec, "inferencePlatform"), "kserve")
		       ? INJECT_MEMORY
		       : 0;
}

static struct gang gang(const struct object *object)
{
	const struct node *pipeline =
		node_path(object->root, "spec.multiNode.parallelism.pipeline");

	if (strcmp(object->kind, "NIMService"))
		return gang_none(object);
	return (struct gang){.n = amount_int(pipeline, 1), .needed = true};
}

const struct workload_operator operator_nim = {
	.gpus = gpus,
	.injects = injects,
	.claims = "draResources",
	.claim = claim,
	.gang = gang,
};
