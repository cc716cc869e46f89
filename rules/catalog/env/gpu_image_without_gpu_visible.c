/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports containers with a GPU image for NVIDIA that request no device. Such
 * images usually set NVIDIA_VISIBLE_DEVICES=all. If the node has GPUs and the
 * nvidia runtime is its default, the container sees every GPU of the node,
 * including those of other tenants. With the value `void`, the runtime adds no
 * devices.
 *
 * Sources: k8s-device-plugin README and #1605; nvidia-container-toolkit
 * internal/config/image/cuda_image.go; skypilot#5823 sets `none`.
 */
#include "base/text.h"
#include "engine/rule.h"
#include "kube/command/env.h"
#include "kube/purpose/purpose.h"

static bool is_nvidia_image(const struct container *c)
{
	const char *image = c->image;

	return container_image(c).gpu && !image_is_cpu(image) &&
	       !text_contains(image, "rocm") && !text_contains(image, "amd") &&
	       !text_contains(image, "tpu") && !text_contains(image, "xpu") &&
	       !text_contains(image, "gaudi") &&
	       !text_contains(image, "habana");
}

/* True if a container of the object requests devices of another vendor, for
 * which the images may be built. */
static bool has_other_vendor(const struct object *object)
{
	FOR_EACH_POD(object, pod)
		FOR_EACH_CONTAINER(pod, c)
			if (c->accelerator &&
			    !text_eq(c->accelerator->vendor, "nvidia"))
				return true;
	return false;
}

/* True if the container gets no device in any way that is known, and no unknown
 * way is possible. */
static bool has_none(const struct container *c)
{
	const struct pod *pod = c->pod;

	if (c->gpus.n || c->gpus.unknown || c->accelerator ||
	    container_uses_gpu(c) != TRI_NO)
		return false;
	/* Operators add devices only to main containers. */
	return c->role != CONTAINER_MAIN ||
	       !(pod->gpu_by & ~(unsigned)GPU_BY_RESOURCE || pod->gpu_unknown ||
		 pod->injects & INJECT_GPU);
}

/* True if the container requests an extended resource that a DeviceClass
 * defines, so that it gets devices through DRA. */
static bool asks_named(struct rule_run *run, const struct container *c)
{
	FOR_EACH_ASKED(c, entry)
		if (strchr(entry->node->key, '/') &&
		    rule_names_device(run, entry->node->key))
			return true;
	return false;
}

static void check(struct rule_run *run, const struct pod *pod)
{
	static const char name[] = "NVIDIA_VISIBLE_DEVICES";

	if (pod->gpu_by & (GPU_BY_ANNOTATION | GPU_BY_SHARE) ||
	    pod_is_preset(pod) || pod->object->class == KIND_OTHER ||
	    has_other_vendor(pod->object))
		return;
	/* The author has given a Ray head, which often has the image of the
	 * workers, no GPUs on purpose. */
	if (node_eq(node_path(pod->group, "rayStartParams.num-gpus"), "0"))
		return;
	FOR_EACH_CONTAINER(pod, c) {
		struct finding *f;
		bool safe;

		if (!has_none(c) || !is_nvidia_image(c) ||
		    container_visible(c, name, NULL) != VISIBLE_UNSET ||
		    asks_named(run, c))
			continue;
		f = report_container(
			run, c, node_get(c->node, "image"),
			"container `%s` runs the GPU image `%s` and requests "
			"no GPU: if the nvidia runtime is the node's default, "
			"the container can see every GPU of the node",
			container_title(c), c->image);
		finding_help(run, f,
			     "Set the variable `%s` to `void` (`none` keeps "
			     "the driver's libraries).",
			     name);
		if (pod->flat)
			continue;
		/* A ConfigMap may set the variable already. */
		safe = node_is_unset(node_get(c->node, "envFrom"));
		fix_ensure(finding_fix(run, f, safe,
				       "set `NVIDIA_VISIBLE_DEVICES: void`"),
			   c->node, "env",
			   env_entry(rule_arena(run), name, "void"), "name");
	}
}

const struct rule rule_gpu_image_without_gpu_visible = {
	.name = "gpu-image-without-gpu-visible",
	.category = "env",
	.severity = SEVERITY_INFO,
	.flags = RULE_ABSENCE | RULE_GUESS | RULE_SAFE_PATCH,
	.summary =
		"a container runs an NVIDIA GPU image, requests no GPU and does not set NVIDIA_VISIBLE_DEVICES",
	.why = "Such images usually set NVIDIA_VISIBLE_DEVICES=all. If the nvidia runtime is the node's default, the container then sees every GPU of the node, including those of other tenants, and none of them is counted.",
	.remedy =
		"Set NVIDIA_VISIBLE_DEVICES=void on containers that need no GPU.",
	.evidence =
		"https://github.com/NVIDIA/k8s-device-plugin; https://github.com/NVIDIA/k8s-device-plugin/issues/1605; https://github.com/NVIDIA/nvidia-container-toolkit/blob/main/internal/config/image/cuda_image.go",
	.yields_to = (const char *const[]){"gpu-limit-missing",
					   "gpu-resource-name-unknown",
					   "gpu-limit-zero", NULL},
	.check_pod = check,
};
