/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports jobs whose ranks run different images. Roles without a device
 * (parameter servers) are not ranks, and neither are a launcher or an
 * evaluator, which is not in TFJob's cluster (training-operator
 * pkg/controller.v1/tensorflow/tensorflow.go, genClusterSpec).
 */
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/purpose/purpose.h"

static bool skip_prefix(const char **image, const char *prefix)
{
	if (!text_starts(*image, prefix))
		return false;
	*image += strlen(prefix);
	return true;
}

/* True for the same image. A name without a registry is one in Docker Hub. */
static bool is_same(const char *a, const char *b)
{
	const char *images[] = {a, b};

	for (size_t i = 0; i < 2; i++)
		if (skip_prefix(&images[i], "docker.io/") ||
		    skip_prefix(&images[i], "index.docker.io/"))
			skip_prefix(&images[i], "library/");
	return !strcmp(images[0], images[1]);
}

static const struct container *rank_container(const struct pod *pod)
{
	if (text_eq(pod->role, "Evaluator") || pod_is_launcher(pod))
		return NULL;
	FOR_EACH_CONTAINER(pod, c)
		if (c->role == CONTAINER_MAIN && c->gpus.n > 0 && c->image)
			return c;
	return NULL;
}

static void check(struct rule_run *run, const struct object *object)
{
	const struct container *first = NULL;

	if (!object_kind_has(object, KIND_RANKS) || object->gang.n < 2)
		return;
	FOR_EACH_POD(object, pod) {
		const struct container *c = rank_container(pod);
		struct finding *f;

		if (!c)
			continue;
		if (!first) {
			first = c;
			continue;
		}
		if (is_same(c->image, first->image))
			continue;
		f = report_container(
			run, c, node_get(c->node, "image"),
			"rank `%s` runs image `%s`, but another rank runs `%s`",
			pod->role, c->image, first->image);
		finding_label(run, f, node_get(first->node, "image"),
			      "the other image");
		return;
	}
}

const struct rule rule_gang_image_mismatch = {
	.name = "gang-image-mismatch",
	.category = "gang",
	.severity = SEVERITY_WARNING,
	.flags = RULE_PREVIEW,
	.summary = "the ranks of one job run different images",
	.why = "Ranks with different versions of NCCL or of the framework hang or fail when they connect.",
	.remedy = "Run the same image in all ranks.",
	.evidence =
		"https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html",
	.check_object = check,
};
