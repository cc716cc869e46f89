/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports JobSets that refer to a replicatedJob that does not exist in them, or
 * in which a replicatedJob depends on itself.
 *
 * Source: jobset pkg/webhooks/jobset_webhook.go, ValidateCreate(), at 01078527:
 * policies, the coordinator and dependsOn name replicatedJobs of the same
 * JobSet. dependsOn may name the own replicatedJob, except in the first one.
 */
#include "base/text.h"
#include "engine/rule.h"

/* Largest number of replicatedJobs that is checked, because each name is
 * compared with all of them. */
enum { JOBS_MAX = 256 };

static bool all_are_named(const struct node *jobs)
{
	FOR_EACH_CHILD(jobs, job)
		if (!node_str(node_get(job, "name")))
			return false;
	return node_count(jobs);
}

static void check_target(struct rule_run *run, const struct object *object,
			 const struct node *jobs, const struct node *name)
{
	if (!node_str(name))
		return;
	FOR_EACH_CHILD(jobs, job)
		if (node_eq(node_get(job, "name"), node_str(name)))
			return;
	report_object(
		run, object, name,
		"no replicatedJob is named `%s`: JobSet rejects the object",
		node_str(name));
}

static void check_dependencies(struct rule_run *run,
			       const struct object *object,
			       const struct node *jobs, const struct node *job)
{
	FOR_EACH_CHILD(node_get(job, "dependsOn"), other) {
		const struct node *name = node_get(other, "name");

		check_target(run, object, jobs, name);
		if (job != node_first(jobs) && node_str(name) &&
		    node_eq(node_get(job, "name"), name->str))
			report_object(
				run, object, name,
				"replicatedJob `%s` depends on itself: its pods are never created",
				name->str);
	}
}

static void check(struct rule_run *run, const struct object *object)
{
	const struct node *spec, *jobs;

	if (!object_is(object, "jobset.x-k8s.io", "JobSet"))
		return;
	spec = node_get(object->root, "spec");
	jobs = node_get(spec, "replicatedJobs");
	if (!all_are_named(jobs))
		return;
	if (node_count(jobs) > JOBS_MAX) {
		rule_not_run(run, "a JobSet has more than 256 replicatedJobs");
		return;
	}
	FOR_EACH_CHILD(node_path(spec, "successPolicy.targetReplicatedJobs"),
		       name)
		check_target(run, object, jobs, name);
	FOR_EACH_CHILD(node_path(spec, "failurePolicy.rules"), rule)
		FOR_EACH_CHILD(node_get(rule, "targetReplicatedJobs"), name)
			check_target(run, object, jobs, name);
	check_target(run, object, jobs,
		     node_path(spec, "coordinator.replicatedJob"));
	FOR_EACH_CHILD(jobs, job)
		check_dependencies(run, object, jobs, job);
}

const struct rule rule_jobset_target_unknown = {
	.name = "jobset-target-unknown",
	.category = "gang",
	.severity = SEVERITY_ERROR,
	.flags = RULE_ABSENCE,
	.summary =
		"a JobSet that refers to a replicatedJob it does not have, or in which one depends on itself",
	.why = "JobSet rejects a name that it does not have. A replicatedJob that depends on itself waits forever.",
	.remedy = "Name another one of spec.replicatedJobs.",
	.evidence =
		"https://github.com/kubernetes-sigs/jobset/blob/main/pkg/webhooks/jobset_webhook.go",
	.check_object = check,
};
