/* SPDX-License-Identifier: Apache-2.0 */
/* KubeAI: devices that a Model requests by its resource profile. */
#include "rules/kube/operator.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* Adds the devices of resourceProfile, NAME:COUNT. The name of a profile shows
 * the kind of device. */
static void gpus(struct pod_builder *builder, struct pod *pod)
{
	const struct node *node = node_get(pod->spec, "resourceProfile");
	const char *profile = node_str(node);
	const char *colon = profile ? strchr(profile, ':') : NULL;
	char *end;
	/* A number beyond 64 bits becomes the largest one. */
	long n = colon ? strtol(colon + 1, &end, 10) : 1;

	if (node_is_unknown(node))
		pod->gpu_unknown = true;
	if (!profile || !strncmp(profile, "cpu", 3) || n <= 0)
		return;
	pod_add_devices(builder, pod,
			text_contains_ci(profile, "tpu")   ? "google.com/tpu"
			: text_contains_ci(profile, "amd") ? "amd.com/gpu"
							   : "nvidia.com/gpu",
			amount_of(n));
}

const struct workload_operator operator_kubeai = {
	.gpus = gpus,
};
