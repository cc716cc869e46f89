/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports training jobs without the container name that their kind requires.
 *
 * Source: training-operator 1.9 pkg/webhooks, and the controllers before it:
 * each replica type must have a container with the name that the kind defines,
 * such as `pytorch` (MPIJob defines none).
 */
#include "base/text.h"
#include "engine/rule.h"

/* Returns the first main container; NULL if one of them has the required name,
 * or may have it. */
static const struct container *without(const struct pod *pod, const char *name)
{
	const struct container *first = NULL;

	FOR_EACH_CONTAINER(pod, c) {
		if (c->role != CONTAINER_MAIN)
			continue;
		if (!c->name || text_eq(c->name, name))
			return NULL;
		first = first ? first : c;
	}
	return pod->cut ? NULL : first;
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const char *name = object_main_container(pod->object);
	const struct container *first;

	if (!name || !text_eq(pod->object->version, "v1"))
		return;
	first = without(pod, name);
	if (first)
		finding_help(
			run,
			report_container(
				run, first, NULL,
				"`%s` has no container `%s`: the training operator rejects the %s or, before 1.9, marks it as Failed",
				pod->role, name, pod->object->kind),
			"rename the training container to `%s`", name);
}

const struct rule rule_kubeflow_container_name = {
	.name = "kubeflow-container-name",
	.category = "gang",
	.severity = SEVERITY_ERROR,
	.flags = RULE_ABSENCE | RULE_INFRASTRUCTURE,
	.since = "1.0",
	.summary =
		"a training job without the container that its kind requires",
	.why = "The training operator's webhook rejects the object; releases before 1.9 mark the job as Failed.",
	.remedy =
		"Give the training container the name that the kind requires, for example `pytorch` in a PyTorchJob.",
	.evidence =
		"https://github.com/kubeflow/trainer/tree/release-1.9/pkg/webhooks",
	.check_pod = check,
};
