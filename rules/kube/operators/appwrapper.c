/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AppWrapper of CodeFlare: what it wraps is admitted together.
 */
#include "rules/kube/operator.h"

static struct gang gang(struct arena *arena, const struct object *object)
{
	return gang_of_children(object);
}

const struct operator operator_appwrapper = {
	.gang = gang,
};
