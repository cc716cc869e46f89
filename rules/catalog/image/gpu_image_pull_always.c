/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports imagePullPolicy: Always for images with a fixed tag or digest. The
 * kubelet asks the registry at every start, also if the node has the image,
 * while the GPU is already allocated. Clusters with the AlwaysPullImages plugin
 * require it, so this is advice, and the fix needs a value from the policy.
 * Source: kubelet image manager; plugin/pkg/admission/alwayspullimages.
 */
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"

/* True for a fixed version: `v0.11.0`, `25.03-py3`, `2.4.0-cuda12` or a digest.
 * `amd64-neuron` may be rebuilt under the same name, and `1` is the latest of a
 * series. */
static bool has_version(const char *image)
{
	const char *tag = image_tag(image);
	size_t digits;

	if (!tag)
		return image_is_fixed(image);
	if (*tag == 'v' || *tag == 'r')
		tag++;
	digits = strspn(tag, "0123456789");
	return digits && (tag[digits] || digits > 2);
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const char *policy = rule_param(run, "policy");

	FOR_EACH_CONTAINER(pod, c) {
		const struct node *at = node_get(c->node, "imagePullPolicy");
		struct finding *f;

		if (c->gpus.n < 1 || !c->image || !node_eq(at, "Always") ||
		    !image_is_fixed(c->image) || !has_version(c->image))
			continue;
		f = report_container(
			run, c, at,
			"imagePullPolicy is `Always`: the fixed image `%s` is looked up in the registry at every start, while the devices are allocated",
			c->image);
		if (!finding_param_given(run, f, "policy") ||
		    text_eq(policy, "Always"))
			continue;
		fix_set(finding_fix(run, f, false, "set `imagePullPolicy: %s`",
				    policy),
			c->node, "imagePullPolicy",
			edit_string(rule_arena(run), policy));
	}
}

static const struct rule_param params[] = {
	{"policy", "string", "",
	 "imagePullPolicy that the fix sets (no fix if empty)"},
	{0},
};

const struct rule rule_gpu_image_pull_always = {
	.name = "gpu-image-pull-always",
	.category = "image",
	.severity = SEVERITY_INFO,
	.flags = RULE_OPT_IN_PATCH,
	.summary =
		"a GPU container with imagePullPolicy Always and an image with a fixed tag or digest",
	.why = "The kubelet asks the registry at every start, even if the node has the image. The start takes longer, and fails if the registry is not available, while the GPU is allocated.",
	.remedy =
		"Set imagePullPolicy: IfNotPresent, unless the cluster requires Always (AlwaysPullImages).",
	.evidence =
		"kubelet image manager; https://github.com/kubernetes/kubernetes/tree/master/plugin/pkg/admission/alwayspullimages",
	.params = params,
	.check_pod = check,
};
