/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One process uses one GPU, unless the program itself spreads.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/rule.h"
#include "kube/command/parallel.h"

static bool has_master(const struct object *object)
{
	FOR_EACH_POD(object, pod)
		if (!strcmp(pod->role, "Master"))
			return true;
	return false;
}

/* The field of a PyTorchJob or TrainJob that torchrun gets from its operator,
 * or NULL. */
static const struct node *job_field(const struct container *c)
{
	const struct object *object = c->pod->object;
	const struct node *spec = node_get(object->root, "spec");
	const struct node *n = node_path(spec, "elasticPolicy.nProcPerNode");

	if (object_is(object, "trainer.kubeflow.org", "TrainJob"))
		return node_path(spec, "trainer.numProcPerNode");
	if (!object_is(object, "kubeflow.org", "PyTorchJob"))
		return NULL;
	/* setPodEnv: where there is neither a master nor an elastic policy, it
	 * is not passed on. */
	if (node_is_unset(node_get(spec, "elasticPolicy")) &&
	    !has_master(object))
		return NULL;
	return node_is_unset(n) ? node_get(spec, "nprocPerNode") : n;
}

static int64_t processes(const struct container *c,
			 const struct parallel *launcher,
			 const struct node **at)
{
	const struct degree *by;
	int64_t n = parallel_devices(launcher, &by);

	*at = by ? by->node : NULL;
	if (n || launcher->spread || launcher->cpu ||
	    strcmp(launcher->program, "torchrun") ||
	    launcher->degrees[DEGREE_PROCESSES].given || !job_field(c))
		return n;
	*at = job_field(c);
	return node_str(*at) ? strtol(node_str(*at), NULL, 10)
			     : amount_int(*at, 0).n;
}

static void judge(struct rule_run *run, const struct container *c,
		  const struct parallel *launcher, bool only)
{
	const struct node *at;
	int64_t n = processes(c, launcher, &at);
	int64_t has = container_devices(c);
	const char *device = pod_device(c->pod);
	struct finding *f;

	if (launcher->type != PARALLEL_LAUNCHER || !n || n == has ||
	    (n < has && !only))
		return;
	f = report_container(run, c, at,
			     "%s starts %" PRId64 " process%s for the %" PRId64
			     " %s%s of container `%s`",
			     launcher->program, n, n == 1 ? "" : "es", has,
			     device, has == 1 ? "" : "s", container_title(c));
	if (n > has)
		return;
	finding_severity(f, SEVERITY_INFO);
	finding_help(run, f,
		     "if each process uses one %s, %" PRId64 " of them %s idle",
		     device, has - n, has - n == 1 ? "is" : "are");
}

static bool one_fits(const struct container *c,
		     const struct parallel_list *list)
{
	const struct node *at;

	for (size_t i = 0; i < list->n; i++) {
		int64_t n = processes(c, &list->items[i], &at);

		if (list->items[i].type == PARALLEL_LAUNCHER &&
		    n <= container_devices(c))
			return true;
	}
	return false;
}

static void check(struct rule_run *run, const struct pod *pod)
{
	FOR_EACH_CONTAINER(pod, c) {
		struct parallel_list list;

		if (!container_devices(c))
			continue;
		/* It is given the devices that it sees, or shares them (MPS). */
		if (container_env(c, "CUDA_VISIBLE_DEVICES") ||
		    container_env(c, "CUDA_MPS_PIPE_DIRECTORY"))
			continue;
		list = container_parallel(c);
		/* One of several fits: it may be the one that is run. */
		if (list.n > 1 && one_fits(c, &list))
			continue;
		for (size_t i = 0; i < list.n; i++)
			judge(run, c, &list.items[i], list.n == 1);
	}
}

const struct rule rule_nproc_mismatch = {
	.name = "nproc-mismatch",
	.category = "parallelism",
	.severity = SEVERITY_WARNING,
	.wants = FACT_DEVICES | FACT_NEW,
	.since = "1.0",
	.summary =
		"a launcher starts more processes than the container has GPUs, or fewer",
	.why = "Processes without a GPU of their own end in `invalid device ordinal` or `Duplicate GPU detected`; GPUs without a process are idle.",
	.remedy =
		"Let the launcher count the GPUs (torchrun: --nproc-per-node=gpu), or write the same number in both places.",
	.evidence =
		"https://docs.pytorch.org/docs/stable/elastic/run.html; https://huggingface.co/docs/accelerate/package_reference/cli",
	.check_pod = check,
};
