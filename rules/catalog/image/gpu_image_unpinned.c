/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports images with mutable tags, such as latest, nightly and main, or
 * without a tag. An image that is never pulled was stored on the nodes by other
 * means and is skipped, as is a container whose command only waits. Upper-case
 * letters mark a placeholder, because names of repositories contain none
 * (distribution/reference).
 */
#include <string.h>

#include "engine/rule.h"
#include "kube/command/command.h"
#include "kube/object.h"

static bool is_placeholder(const char *image)
{
	return !image_tag(image) &&
	       strpbrk(image, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
}

static void check(struct rule_run *run, const struct pod *pod)
{
	FOR_EACH_CONTAINER(pod, c) {
		const char *tag;

		if (c->gpus.n < 1 || !c->image || image_is_fixed(c->image) ||
		    is_placeholder(c->image) ||
		    node_eq(node_get(c->node, "imagePullPolicy"), "Never") ||
		    container_command(c).type == COMMAND_WAITS)
			continue;
		tag = image_tag(c->image);
		report_container(run, c, node_get(c->node, "image"),
				 "image `%s` %s: the next pull may bring a "
				 "different image",
				 c->image,
				 tag ? "has a mutable tag" : "has no tag");
	}
}

const struct rule rule_gpu_image_unpinned = {
	.name = "gpu-image-unpinned",
	.category = "image",
	.severity = SEVERITY_WARNING,
	.flags = RULE_PREVIEW,
	.summary = "a GPU image with a mutable tag or no tag",
	.why = "The version of CUDA or of the server may change between restarts, and ranks of one job may run different versions.",
	.remedy = "Use the tag of a version or, better, a digest.",
	.evidence =
		"https://kubernetes.io/docs/concepts/containers/images/#image-names",
	.check_pod = check,
};
