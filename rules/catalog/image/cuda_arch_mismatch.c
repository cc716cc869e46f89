/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports images whose CUDA version, as their name or tag gives it, is older
 * than the selected Blackwell GPUs. Programs of an older CUDA version run on
 * newer GPUs if they contain PTX in addition to binary kernels.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/rule.h"
#include "kube/accelerator.h"
#include "kube/scheduling/affinity.h"

/* Returns the CUDA version, for example 1204 for `cuda12.4`, `cu124` or
 * `cuda:12.4.1-base`; 0 if unknown. */
static int64_t cuda_of(const char *image)
{
	const char *at = strstr(image, "cuda");
	char *end;
	long major;

	if (at) {
		/* The tag of `whisper-cuda:12.1` is whisper's version. */
		if (at > image && at[-1] != '/' && at[4] == ':')
			return 0;
		at += 4;
		at += *at == ':' || *at == '-' || *at == '_';
		major = strtol(at, &end, 10);
		if (end > at && *end == '.' && major >= 9 && major < 20)
			return major * 100 + strtol(end + 1, NULL, 10);
		return 0;
	}
	at = strstr(image, "cu1");
	major = at ? strtol(at + 2, &end, 10) : 0;
	return major >= 100 && major < 200 ? major / 10 * 100 + major % 10 : 0;
}

/* True for a label whose value names a GPU product. A pool or a team may have
 * the name of a product for another reason. */
static bool says_product(const char *key)
{
	const struct node_label *label = node_label_find(key);

	return label && (label->meaning == LABEL_PRODUCT ||
			 label->meaning == LABEL_PRESENCE ||
			 label->meaning == LABEL_INSTANCE);
}

static const struct node *selects_blackwell(const struct pod *pod)
{
	static const char *const names[] = {
		"B200",		"b200",		"B300", "b300",
		"RTX-PRO-6000", "rtx-pro-6000", NULL};
	struct node_needs needs = pod_node_needs(pod);

	for (size_t i = 0; i < needs.n && needs.terms <= 1; i++) {
		const struct node *value = node_need_value(&needs.items[i], 0);

		if (!node_str(value) || !needs.items[i].key ||
		    !node_need_requires(&needs.items[i]) ||
		    node_need_value(&needs.items[i], 1) ||
		    !says_product(needs.items[i].key))
			continue;
		for (const char *const *name = names; *name; name++)
			if (strstr(node_str(value), *name))
				return value;
	}
	return NULL;
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct node *gpu = NULL;

	FOR_EACH_CONTAINER(pod, c) {
		int64_t cuda =
			c->gpus.n > 0 && c->image ? cuda_of(c->image) : 0;
		struct finding *f;

		if (!cuda || cuda >= 1208)
			continue;
		gpu = selects_blackwell(pod);
		if (!gpu)
			return;
		f = report_container(
			run, c, node_get(c->node, "image"),
			"the image has CUDA %s.%s, which cannot build kernels for `%s`: kernels without PTX fail there",
			rule_number(run, cuda / 100),
			rule_number(run, cuda % 100), node_str(gpu));
		finding_label(run, f, gpu, "selects Blackwell GPUs");
	}
}

const struct rule rule_cuda_arch_mismatch = {
	.name = "cuda-arch-mismatch",
	.category = "image",
	.severity = SEVERITY_WARNING,
	.flags = RULE_PREVIEW,
	.summary =
		"an image whose CUDA version is older than the selected GPUs",
	.why = "Kernels that were built before these GPUs existed run only if the program contains PTX, which the driver compiles; others fail with `no kernel image is available for execution on the device`.",
	.remedy = "Use an image with CUDA 12.8 or later on Blackwell.",
	.evidence =
		"https://docs.nvidia.com/cuda/blackwell-compatibility-guide/; https://docs.nvidia.com/cuda/archive/12.8.0/cuda-toolkit-release-notes/",
	.check_pod = check,
};
