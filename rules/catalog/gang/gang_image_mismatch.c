/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Roles without a device (parameter servers, launchers) are not ranks.
 */
#include <string.h>

#include "engine/rule.h"

static const struct container *rank(const struct pod *pod)
{
	FOR_EACH_CONTAINER(pod, c)
		if (c->role == CONTAINER_MAIN && c->gpus.n > 0 && c->image)
			return c;
	return NULL;
}

static void check(struct rule_run *run, const struct object *object)
{
	const struct container *first = NULL;

	if (!object_has_ranks(object) || object->gang.n < 2)
		return;
	FOR_EACH_POD(object, pod) {
		const struct container *c = rank(pod);
		struct finding *f;

		if (!c)
			continue;
		if (!first) {
			first = c;
			continue;
		}
		if (!strcmp(c->image, first->image))
			continue;
		f = report_container(run, c, node_get(c->node, "image"),
				     "rank `%s` runs `%s`, another one `%s`",
				     pod->role, c->image, first->image);
		finding_label(run, f, node_get(first->node, "image"),
			      "the other one");
		return;
	}
}

const struct rule rule_gang_image_mismatch = {
	.name = "gang-image-mismatch",
	.category = "gang",
	.severity = SEVERITY_WARNING,
	.flags = RULE_PREVIEW,
	.wants = FACT_GANG,
	.since = "1.0",
	.summary = "ranks of one job that run different images",
	.why = "Ranks with different versions of NCCL or of the framework hang or fail when they meet.",
	.remedy = "Run one image in all ranks.",
	.evidence =
		"https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html",
	.check_object = check,
};
