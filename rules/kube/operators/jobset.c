/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JobSet: failure policies that restart without end, and whether a JobSet
 * trains. Deadline and retries are fields of its Jobs.
 *
 * Source: jobset_types.go (failurePolicy).
 */
#include "rules/kube/operator.h"

#include "base/text.h"

/* Returns the action of a failure policy rule that does not count restarts,
 * whatever the reason of the failure is; NULL if no rule has one. */
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

/* A JobSet with several pods counts as training unless its programs or probes
 * show that it serves. */
static enum tri trains(const struct object *object)
{
	return object->gang.n > 1 || object->gang.unknown ? TRI_YES
							  : TRI_UNKNOWN;
}

const struct workload_operator operator_jobset = {
	.gang = gang_of_all,
	.pods.endless = endless,
	.trains = trains,
};
