/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports WORLD_SIZE above the number of ranks that can exist: one for each
 * GPU of the pods. A Job with fewer `completions` than `parallelism` runs only
 * that number of pods at once (k8s.io/api v0.37.2 batch/v1 types.go, JobSpec).
 * The pods of other objects may be ranks too, so an object is checked only if
 * its `parallelism` would be enough, or if MASTER_ADDR names one of its pods.
 * If it names the pod itself, the script may start all ranks: an info.
 * Launchers and operators set the variable themselves; scripts that set it are
 * skipped. Source: pytorch v2.9 torch/distributed/distributed_c10d.py,
 * init_process_group() waits for WORLD_SIZE ranks.
 */
#include <ctype.h>
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/command/env.h"
#include "kube/command/parallel.h"
#include "kube/lifecycle/lifecycle.h"

/* Returns the value of WORLD_SIZE; 0 if it is unknown or not used. */
static int64_t world_size(const struct container *c, const struct node **at)
{
	struct env_value value = container_env_value(c, "WORLD_SIZE");
	size_t digits = value.text ? strspn(value.text, "0123456789") : 0;
	int64_t n = 0;

	if (!digits || digits > 6 || value.text[digits] ||
	    container_parallel(c).n || container_says(c, "WORLD_SIZE") ||
	    !container_says(c, "python"))
		return 0;
	for (size_t i = 0; i < digits; i++)
		n = n * 10 + (value.text[i] - '0');
	*at = value.at;
	return n;
}

/* True if the first rank is a pod of the object, NAME-0. A pod of a JobSet has
 * the name of its job too; in other objects, NAME-master-0 is a pod of another
 * one. */
static bool meets_itself(const struct container *c)
{
	const char *address = container_env_text(c, "MASTER_ADDR");
	const struct object *object = c->pod->object;
	const char *rest;

	if (!address || !text_starts(address, object->name))
		return false;
	rest = address + strlen(object->name);
	return *rest == '-' && (isdigit((unsigned char)rest[1]) ||
				!object_kind_has(object, KIND_NATIVE));
}

/* Returns the devices of a pod's containers that are ranks. */
static int64_t rank_devices(const struct pod *pod)
{
	int64_t n = 0;

	FOR_EACH_CONTAINER(pod, c)
		if (c->role == CONTAINER_MAIN && container_env(c, "WORLD_SIZE"))
			n += container_devices(c);
	return n;
}

/* True for rank 0 of ranks that all run in its pod. */
static bool is_alone(const struct container *c)
{
	const char *address = container_env_text(c, "MASTER_ADDR");

	return c->pod->steady.n == 1 &&
	       text_eq(container_env_text(c, "RANK"), "0") &&
	       (text_eq(address, "localhost") ||
		text_starts(address, "127.0.0.1"));
}

static void check_container(struct rule_run *run, const struct container *c)
{
	const struct object *object = c->pod->object;
	const struct node *job = pod_job_spec(c->pod), *at = NULL;
	const struct node *completions = node_get(job, "completions");
	int64_t devices = container_devices(c), n = c->pod->steady.n, all;
	int64_t size = devices ? world_size(c, &at) : 0;

	if (size > 1 && is_alone(c)) {
		finding_severity(
			report_container(
				run, c, at,
				"WORLD_SIZE is %s, and the address of the ranks is this pod: unless the script starts the others, rank 0 waits for them",
				rule_number(run, size)),
			SEVERITY_INFO);
		return;
	}
	devices = rank_devices(c->pod);
	if (size <= n * devices)
		return;
	if (n > 0 && node_int(node_get(job, "parallelism"), &all) && all > n &&
	    all * devices >= size)
		report_container(
			run, c, completions ? completions : at,
			"`completions` lets only %s of `parallelism` %s run at once, but WORLD_SIZE is %s",
			rule_count(run, n, "pod"), rule_number(run, all),
			rule_number(run, size));
	else if (n > 1 && object->npods == 1 && meets_itself(c))
		report_container(
			run, c, at,
			"WORLD_SIZE is %s, but %s runs %s with %s each",
			rule_number(run, size),
			rule_title(run, object->kind, object->name),
			rule_count(run, n, "pod"),
			rule_count(run, devices, pod_device(c->pod)));
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct object *object = pod->object;

	if (object->class == KIND_TRAINING || object->pods_inferred ||
	    object->parent || object->fragment || object->copies.n != 1 ||
	    pod->steady.unknown)
		return;
	FOR_EACH_CONTAINER(pod, c)
		if (c->role == CONTAINER_MAIN && container_env(c, "WORLD_SIZE"))
			check_container(run, c);
}

const struct rule rule_world_size_exceeds_pods = {
	.name = "world-size-exceeds-pods",
	.category = "parallelism",
	.severity = SEVERITY_WARNING,
	.scope = GPU_PODS | PODSPEC,
	.summary = "WORLD_SIZE above the number of ranks that can exist",
	.why = "The ranks wait for others that never start, and hold their GPUs until they time out.",
	.remedy =
		"Set `completions`, `parallelism` or `replicas` to the number of pods, and WORLD_SIZE to their ranks.",
	.evidence =
		"https://kubernetes.io/docs/concepts/workloads/controllers/job/#controlling-parallelism; https://docs.pytorch.org/docs/stable/distributed.html#environment-variable-initialization",
	.check_pod = check,
};
