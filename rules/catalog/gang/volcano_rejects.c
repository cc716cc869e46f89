/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports Volcano Jobs, CronJobs, Queues and PodGroups that Volcano's webhook
 * rejects; the checks are in rules/engine/rejections.
 */
#include "base/text.h"
#include "engine/rule.h"

static void check(struct rule_run *run, const struct object *object)
{
	if (text_ends(object->group, ".volcano.sh"))
		rule_check_rejections(run, object);
}

const struct rule rule_volcano_rejects = {
	.name = "volcano-rejects",
	.category = "gang",
	.severity = SEVERITY_ERROR,
	.flags = RULE_ABSENCE,
	.summary =
		"a Volcano Job, CronJob, Queue or PodGroup that its webhook rejects",
	.why = "The webhook of Volcano rejects, for example, contradictory policies, references to tasks that do not exist, invalid schedules, and contradictory quantities of a queue.",
	.evidence =
		"https://github.com/volcano-sh/volcano/tree/ed72c7c815a9fd547a787134676f73d42e9d049c/pkg/webhooks/admission",
	.rejections = &volcano_rejections,
	.check_object = check,
};
