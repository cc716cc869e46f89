/* SPDX-License-Identifier: Apache-2.0 */
/* OME: the pods that start together, and containers that are merged with those
 * of a runtime. Each component serves independently, with a leader and its
 * workers. */
#include "rules/kube/operator.h"

#include "base/text.h"

static struct gang gang(const struct object *object)
{
	struct gang out = gang_of_all(object);

	if (object->class == KIND_TEMPLATE)
		return gang_none(object);
	out.needed =
		!node_is_unset(node_path(object->root, "spec.engine.worker"));
	return out;
}

/* True for containers of an InferenceService, which MergeEngineSpec merges with
 * those of a runtime (strategic merge). */
static bool merges(const struct container *c)
{
	return text_eq(c->pod->object->kind, "InferenceService");
}

const struct workload_operator operator_ome = {
	.gang = gang,
	.merges = merges,
};
