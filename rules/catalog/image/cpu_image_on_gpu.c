/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports containers with GPUs that run an image built for CPUs. The name of an
 * image shows its target. Only containers with GPUs are checked: on TPUs,
 * PyTorch/XLA is used with the CPU build of PyTorch.
 */
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"

/* True if the name contains a word of GPU builds, or `offload`: a GPU build
 * named `cpu-offload` stores parts of the model in host memory. */
static bool has_gpu_word(const char *image)
{
	static const char *const words[] = {"gpu", "cuda",    "rocm",
					    "xpu", "offload", NULL};

	return text_any(image, words, text_contains);
}

/* True for a name or tag of a CPU build: `:cpu`, `-cpu`, `:2.4-cpu-py311`. */
static bool is_cpu_build(const char *image)
{
	const char *at = strstr(image, "cpu");

	for (; at; at = strstr(at + 1, "cpu"))
		if (at > image && strchr(":-_", at[-1]) &&
		    (!at[3] || strchr(":-_@", at[3])))
			return !has_gpu_word(image);
	return false;
}

static void check(struct rule_run *run, const struct pod *pod)
{
	FOR_EACH_CONTAINER(pod, c)
		if (c->gpus.n > 0 && c->role != CONTAINER_INIT && c->image &&
		    is_cpu_build(c->image) && !strcmp(pod_device(pod), "GPU"))
			report_container(
				run, c, node_get(c->node, "image"),
				"container `%s` requests GPUs but runs `%s`, which by its name is a CPU build",
				container_title(c), c->image);
}

const struct rule rule_cpu_image_on_gpu = {
	.name = "cpu-image-on-gpu",
	.category = "image",
	.severity = SEVERITY_WARNING,
	.flags = RULE_PREVIEW | RULE_GUESS,
	.summary =
		"a container that requests GPUs runs an image built for CPUs",
	.why = "A framework that is built for CPUs uses no device: the GPUs are allocated but idle.",
	.remedy =
		"Use the variant of the image that is built for the accelerator.",
	.evidence =
		"https://pytorch.org/get-started/locally/: builds for CPU and CUDA",
	.check_pod = check,
};
