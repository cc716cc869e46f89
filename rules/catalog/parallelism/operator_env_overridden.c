/* SPDX-License-Identifier: Apache-2.0 */
/*
 * setPodEnv of the training operator; elastic jobs get PET_RDZV_* instead.
 */
#include <string.h>

#include "engine/rule.h"

static const char *const names[] = {"MASTER_ADDR",     "MASTER_PORT",
				    "WORLD_SIZE",      "RANK",
				    "PET_NNODES",      "PET_NPROC_PER_NODE",
				    "PET_NODE_RANK",   "PET_MASTER_ADDR",
				    "PET_MASTER_PORT", NULL};

static bool is_elastic(const struct object *object)
{
	return !node_is_unset(node_path(object->root, "spec.elasticPolicy"));
}

static void judge(struct rule_run *run, const struct container *c,
		  const char *name)
{
	const struct node *entry = container_env(c, name);
	struct finding *f;

	if (!entry)
		return;
	f = report_container(run, c, entry,
			     "the training operator sets `%s` itself, after "
			     "this one",
			     name);
	fix_remove(finding_fix(run, f, false, "remove `%s`", name), entry);
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct object *object = pod->object;

	if (!object_is(object, "kubeflow.org", "PyTorchJob") ||
	    !object_has_role(object, "Master") || is_elastic(object))
		return;
	FOR_EACH_CONTAINER(pod, c)
		if (c->role == CONTAINER_MAIN)
			for (const char *const *name = names; *name; name++)
				judge(run, c, *name);
}

const struct rule rule_operator_env_overridden = {
	.name = "operator-env-overridden",
	.category = "parallelism",
	.severity = SEVERITY_WARNING,
	.flags = RULE_ABSENCE | RULE_OPT_IN_PATCH,
	.wants = FACT_KUBEFLOW | FACT_ENV | FACT_NEW,
	.since = "1.0",
	.summary = "a variable that the operator also sets",
	.why = "The operator appends its own, and the last one wins: the value here has no effect, or hides a mistake.",
	.remedy = "Remove it.",
	.evidence =
		"https://github.com/kubeflow/training-operator/blob/v1.9.0/pkg/controller.v1/pytorch/envvar.go",
	.check_pod = check,
};
