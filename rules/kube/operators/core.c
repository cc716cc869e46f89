/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kubernetes' own controllers: numbers of pods with replacements and surges,
 * and commands by which the pods of a Job or a StatefulSet need each other.
 *
 * Sources: pkg/apis/batch/v1/defaults.go; kubernetes/api batch/v1 types.go,
 * apps/v1 types.go.
 */
#include "rules/kube/operator.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "kube/command/command.h"

COUNT_FORMULA(job)
{
	struct amount parallelism = amount_field(at, "parallelism", 1);

	if (!field_is_set(at, "completions"))
		return parallelism;
	return amount_min(parallelism, amount_field(at, "completions", 1));
}

/*
 * Counts pods with their replacements. With podReplacementPolicy
 * TerminatingOrFailed (the default without a podFailurePolicy), the replacement
 * of a failed pod starts while that pod is terminating and still holds its
 * devices.
 */
COUNT_FORMULA(job_peak)
{
	const struct node *policy = node_get(at, "podReplacementPolicy");
	bool failed = node_is_unset(policy)
			      ? field_is_set(at, "podFailurePolicy")
			      : node_eq(policy, "Failed");

	struct amount jobs = count_job(place, at, number);

	if (failed)
		return jobs;
	jobs = amount_mul(jobs, amount_of(2));
	jobs.replaced = true;
	return jobs;
}

COUNT_FORMULA(surge)
{
	struct amount replicas = amount_field(at, "replicas", 1);
	const struct node *strategy = node_get(at, "strategy");

	if (node_eq(node_get(strategy, "type"), "Recreate"))
		return replicas;
	return amount_add(
		replicas,
		amount_share(node_path(strategy, "rollingUpdate.maxSurge"),
			     replicas, 25));
}

/* -- distributed commands ------------------------------------------------ */

/*
 * True for counts above one ("4", "2:8") and for unknown counts, because the
 * author wrote the flag.
 */
static bool more_than_one(const char *text)
{
	char *end;
	long n;

	if (!text)
		return true;
	n = strtol(text, &end, 10);
	return n > 1 || *end == ':';
}

static bool env_is_distributed(const struct container *c)
{
	static const char *const sizes[] = {"WORLD_SIZE", "NNODES",
					    "PET_NNODES", "NUM_NODES", NULL};

	for (const char *const *name = sizes; *name; name++) {
		const struct node *entry = container_env(c, *name);
		const struct node *value = node_get(entry, "value");

		if (entry && more_than_one(node_str(value)))
			return true;
	}
	return container_env(c, "MASTER_ADDR") != NULL;
}

/* True if this container's command or variables show that it may start one of
 * several ranks. */
static bool is_distributed(const struct container *c)
{
	static const char *const counts[] = {"--nnodes", "--num-machines",
					     "--num-nodes", NULL};
	static const char *const peers[] = {
		"--rdzv-endpoint",	   "--master-addr",
		"--dist-init-addr",	   "--main-process-ip",
		"--data-parallel-address", NULL};
	struct argv argv;
	const struct arg *found;

	if (env_is_distributed(c))
		return true;
	argv = container_argv(c);
	for (const char *const *flag = counts; *flag; flag++) {
		const char *value = argv_flag(&argv, *flag, &found);

		if (found)
			return more_than_one(value);
	}
	for (const char *const *flag = peers; *flag; flag++) {
		const char *value = argv_flag(&argv, *flag, &found);

		if (found && (!value || !text_starts(value, "localhost")))
			return true;
	}
	return false;
}

/* True for an indexed Job with a subdomain, whose pods find each other by host
 * name. */
static bool has_hostnames(const struct object *object, const struct pod *pod)
{
	return node_eq(node_get(pod->group, "completionMode"), "Indexed") &&
	       !node_is_unset(pod_field(pod, "subdomain")) &&
	       object->class == KIND_BATCH;
}

static struct gang by_command(const struct object *object)
{
	struct gang gang = {.n = gang_sum(object)};

	if (gang.n.n <= 1 && !gang.n.unknown)
		return gang;
	FOR_EACH_POD(object, pod) {
		gang.needed = gang.needed || has_hostnames(object, pod);
		FOR_EACH_CONTAINER(pod, c)
			if (c->role == CONTAINER_MAIN && is_distributed(c))
				gang.needed = true;
	}
	/* Without a queue that starts all of them, independent pods are useful
	 * alone. */
	if (!gang.needed && !object->kueue)
		gang.n = amount_of(1);
	return gang;
}

/* Pods of a Deployment are useful alone. */
static struct gang gang(const struct object *object)
{
	if (object->class == KIND_BATCH || !strcmp(object->kind, "StatefulSet"))
		return by_command(object);
	return gang_none(object);
}

const struct workload_operator operator_core = {
	.gang = gang,
};
