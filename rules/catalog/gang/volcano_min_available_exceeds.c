/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports Volcano Jobs, and their tasks, whose minAvailable is larger than
 * their number of pods.
 *
 * Source: volcano pkg/webhooks/admission/jobs/validate/admit_job.go, which
 * checks the sum of all tasks, and each task. The webhook for CronJobs does
 * not, but the Jobs that they create go through the webhook for Jobs.
 */
#include "base/text.h"
#include "engine/rule.h"

/* Returns the replicas of a task, which are unknown if unset in a patch.
 * Otherwise 0 if unset, because neither the CRD nor mutate_job.go sets a
 * default (at ed72c7c8). */
static struct amount replicas(const struct object *object,
			      const struct node *task)
{
	const struct node *n = node_get(task, "replicas");

	if (node_is_unset(n) && object->fragment)
		return (struct amount){.unknown = true};
	return amount_int(n, 0);
}

static void compare(struct rule_run *run, const struct object *object,
		    const struct node *at, struct amount pods,
		    const char *whose)
{
	struct amount least = amount_int(at, 0);

	if (pods.unknown || least.unknown || least.n <= pods.n)
		return;
	report_object(
		run, object, at,
		"`minAvailable` is %s, above the %s of %s: Volcano rejects %s",
		rule_number(run, least.n), rule_count(run, pods.n, "pod"),
		whose,
		text_eq(object->kind, "Job") ? "the Job"
					     : "the Jobs of this CronJob");
}

static void check(struct rule_run *run, const struct object *object)
{
	const struct node *spec = node_get(object->root, "spec");
	struct amount all = {0};

	if (object_is(object, "batch.volcano.sh", "CronJob"))
		spec = node_path(spec, "jobTemplate.spec");
	else if (!object_is(object, "batch.volcano.sh", "Job"))
		return;
	if (!node_is_seq(node_get(spec, "tasks")))
		return;
	FOR_EACH_CHILD(node_get(spec, "tasks"), task) {
		struct amount pods = replicas(object, task);

		compare(run, object, node_get(task, "minAvailable"), pods,
			"the task");
		all = amount_add(all, pods);
	}
	compare(run, object, node_get(spec, "minAvailable"), all, "all tasks");
}

const struct rule rule_volcano_min_available_exceeds = {
	.name = "volcano-min-available-exceeds",
	.category = "gang",
	.severity = SEVERITY_ERROR,
	.flags = RULE_ABSENCE,
	.summary =
		"a Volcano Job, or a task of one, whose minAvailable is larger than its number of pods",
	.why = "Volcano's webhook rejects the Job, or the Jobs that a CronJob creates.",
	.remedy = "Lower minAvailable to the number of replicas, or remove it.",
	.evidence =
		"https://github.com/volcano-sh/volcano/blob/master/pkg/webhooks/admission/jobs/validate/admit_job.go",
	.check_object = check,
};
