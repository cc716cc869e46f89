/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pods of a Katib Trial start together. An Experiment creates independent
 * Trials, each of which runs one object.
 */
#include "rules/kube/operator.h"

#include <string.h>

static struct gang gang(const struct object *object)
{
	struct gang out = gang_of_children(object);

	out.alone = !strcmp(object->kind, "Experiment");
	return out;
}

const struct workload_operator operator_katib = {
	.gang = gang,
};
