/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JobSet. Source: jobset_types.go (failurePolicy, dependsOn). Deadline and
 * retries are in its Jobs.
 */
#include "rules/kube/operator.h"

#include "base/text.h"

static struct gang gang(struct arena *arena, const struct object *object)
{
	return gang_of_all(object);
}

/* A failure policy rule for every failure that counts no restart. */
static const struct node *endless(const struct pod *pod)
{
	FOR_EACH_CHILD(node_path(pod->object->root, "spec.failurePolicy.rules"),
		       rule) {
		const struct node *action = node_get(rule, "action");

		if (text_ends(node_str(action), "AndIgnoreMaxRestarts") &&
		    node_is_unset(node_get(rule, "onJobFailureReasons")))
			return action;
	}
	return NULL;
}

/* Several pods are a training job unless they serve. */
static enum tri trains(const struct object *object)
{
	return object->gang.n > 1 || object->gang.unknown ? TRI_YES
							  : TRI_UNKNOWN;
}

const struct operator operator_jobset = {
	.gang = gang,
	.endless = endless,
	.trains = trains,
};
