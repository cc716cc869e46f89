/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports jobs that Kubeflow's operators reject, by the table in
 * rules/engine/rejections/trainer.c.
 */
#include <string.h>

#include "engine/rule.h"

static void check(struct rule_run *run, const struct object *object)
{
	if (object->group && strstr(object->group, "kubeflow.org"))
		rule_check_rejections(run, object);
}

static const char *const aliases[] = {"kubeflow-job-refused", NULL};

const struct rule rule_trainer_rejects = {
	.name = "trainer-rejects",
	.category = "gang",
	.severity = SEVERITY_ERROR,
	.flags = RULE_ABSENCE,
	.aliases = aliases,
	.summary = "a training job that its operator rejects",
	.why = "The webhook rejects the object, or the controller never starts its pods.",
	.evidence =
		"https://github.com/kubeflow/trainer/tree/v1.9.3/pkg/webhooks; https://github.com/kubeflow/trainer/tree/v2.3.0/pkg/runtime/framework/plugins",
	.rejections = &trainer_rejections,
	.check_object = check,
};
