/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Volcano: the pods of a Job that start together, and whether they train. A Job
 * may run any program; if it uses the plugin of a training framework, it
 * trains.
 *
 * Sources: volcano batch/v1alpha1 job.go; admit/mutate_job.go (tasks without a
 * priority class get the Job's).
 */
#include "rules/kube/operator.h"

#include <string.h>

#include "kube/operators.h"

bool volcano_policy_is(const struct node *policy, const char *event)
{
	const struct node *own = node_get(policy, "event");

	FOR_EACH_CHILD(node_get(policy, "events"), one)
		if (node_eq(one, event) || node_eq(one, "*"))
			return true;
	return node_eq(own, event) || node_eq(own, "*");
}

/* Returns the spec of a Job, or of the Job in a CronJob. */
static const struct node *job_spec(const struct object *object)
{
	const struct node *spec = node_get(object->root, "spec");
	const struct node *inner = node_path(spec, "jobTemplate.spec");

	return node_is_unset(inner) ? spec : inner;
}

static bool is_job(const struct object *object)
{
	return !strcmp(object->kind, "Job") || !strcmp(object->kind, "CronJob");
}

static struct gang of_tasks(const struct object *object)
{
	const struct node *spec = job_spec(object);
	const struct node *least;
	struct gang gang = {.by_operator = true};

	least = node_get(spec, "minAvailable");
	if (!node_is_unset(least)) {
		gang.n = amount_int(least, 0);
		return gang;
	}
	FOR_EACH_CHILD(node_get(spec, "tasks"), task) {
		least = node_get(task, "minAvailable");
		if (node_is_unset(least))
			least = node_get(task, "replicas");
		gang.n = amount_add(gang.n, amount_int(least, 0));
	}
	return gang;
}

static struct gang gang(const struct object *object)
{
	struct gang all = gang_of_all(object);

	if (is_job(object))
		return of_tasks(object);
	if (strcmp(object->kind, "ModelServing"))
		return gang_none(object);
	all.by_operator = true;
	return all;
}

static enum tri trains(const struct object *object)
{
	static const char *const plugins[] = {"pytorch", "tensorflow", "mpi",
					      "jax",	 "ray",	       NULL};

	if (object->class != KIND_TRAINING)
		return TRI_UNKNOWN;
	for (const char *const *name = plugins; *name; name++)
		if (node_get(node_get(job_spec(object), "plugins"), *name))
			return TRI_YES;
	return TRI_UNKNOWN;
}

/* Volcano's CalTaskRequests adds up requests, and ignores limits. */
static enum summed_requests sums_requests(const struct object *object)
{
	return is_job(object) ? REQUESTS_ALONE : REQUESTS_NOT_SUMMED;
}

const struct workload_operator operator_volcano = {
	.sums_requests = sums_requests,
	.gang = gang,
	.makes_pod_groups = true,
	.trains = trains,
	.runs_anything = true,
};
