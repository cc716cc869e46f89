/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OME: components serve one by one, a leader with its workers.
 */
#include "rules/kube/operator.h"

static struct gang gang(struct arena *arena, const struct object *object)
{
	struct gang out = gang_of_all(object);

	if (object->class == KIND_TEMPLATE)
		return gang_none(object);
	out.needed =
		!node_is_unset(node_path(object->root, "spec.engine.worker"));
	return out;
}

const struct operator operator_ome = {
	.gang = gang,
};
