/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports images whose CUDA version is too new for the driver of the selected
 * nodes. CUDA runs on the drivers of its whole major version, so only major
 * versions are compared.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/scheduling/affinity.h"

/* Returns the major CUDA version in `cuda13.0`, `cu130` or
 * `nvidia/cuda:12.4.1-base`; 0 if unknown. The tag of `app-cuda:13.0` is the
 * application's version. */
static int64_t cuda_major(const char *image)
{
	const char *at = strstr(image, "cuda");
	char *end;
	long n;

	if (at) {
		bool whole = at == image || at[-1] == '/';

		at += 4;
		at += (*at == ':' && whole) || *at == '-' || *at == '_';
		n = strtol(at, &end, 10);
		return end > at && *end == '.' && n >= 9 && n < 20 ? n : 0;
	}
	at = strstr(image, "cu1");
	if (!at || (at > image && isalnum((unsigned char)at[-1])))
		return 0;
	n = strtol(at + 2, &end, 10);
	return n >= 100 && n < 200 && !isalnum((unsigned char)*end) ? n / 10
								    : 0;
}

/* Returns the newest major CUDA version that the driver of the selected nodes
 * supports; NULL if it is unknown. */
static const struct node *supported(const struct pod *pod)
{
	struct node_needs needs = pod_node_needs(pod);

	for (size_t i = 0; i < needs.n && needs.terms <= 1; i++) {
		const struct node_need *need = &needs.items[i];

		if ((text_eq(need->key,
			     "nvidia.com/cuda.runtime-version.major") ||
		     text_eq(need->key, "nvidia.com/cuda.runtime.major")) &&
		    (!need->operator|| !strcmp(need->operator, "In")) &&
		    !node_need_value(need, 1))
			return node_need_value(need, 0);
	}
	return NULL;
}

static void check(struct rule_run *run, const struct pod *pod)
{
	FOR_EACH_CONTAINER(pod, c) {
		int64_t cuda =
			c->gpus.n > 0 && c->image ? cuda_major(c->image) : 0;
		const struct node *most;
		struct finding *f;

		if (!cuda)
			continue;
		most = supported(pod);
		if (!node_str(most) || strtol(node_str(most), NULL, 10) < 9 ||
		    strtol(node_str(most), NULL, 10) >= cuda)
			continue;
		f = report_container(
			run, c, node_get(c->node, "image"),
			"the image has CUDA %s, but the driver of the nodes supports only CUDA %s: without CUDA's compatibility package, the image does not run",
			rule_number(run, cuda), node_str(most));
		finding_label(run, f, most, "the nodes");
	}
}

const struct rule rule_cuda_driver_mismatch = {
	.name = "cuda-driver-mismatch",
	.category = "image",
	.severity = SEVERITY_WARNING,
	.summary =
		"an image whose CUDA version is too new for the driver of the selected nodes",
	.why = "Without a forward compatibility package (`cuda-compat`), which works on data center GPUs, the runtime refuses to start the container (`unsatisfied condition: cuda>=13.0`), or CUDA fails in it.",
	.remedy =
		"Use an image that the driver supports, or select nodes with a newer driver.",
	.evidence =
		"https://docs.nvidia.com/deploy/cuda-compatibility/; https://github.com/NVIDIA/nvidia-container-toolkit/issues/152",
	.check_pod = check,
};
