/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports distributed jobs whose processes each use a slice or a share of a
 * GPU. NCCL ranks cannot share a device.
 */
#include "engine/rule.h"
#include "kube/command/parallel.h"
#include "kube/scheduling/node_match.h"

static bool is_part(struct rule_run *run, const struct container *c)
{
	FOR_EACH_ASKED(c, entry) {
		enum accel_class unit;

		if (!entry->accelerator || entry->accelerator != c->accelerator)
			continue;
		unit = container_unit(rule_cluster(run), c, entry);
		if (unit == ACCEL_MIG || unit == ACCEL_SHARED)
			return true;
	}
	return false;
}

/* Checks the ranks in this container or, if it has only one, the ranks of the
 * pods. */
static void check_ranks(struct rule_run *run, const struct container *c,
			const struct parallel *launcher)
{
	const struct degree *nodes = &launcher->degrees[DEGREE_NODES];
	struct parallel one = *launcher;
	const struct degree *by;
	int64_t n;

	/* Data-parallel copies of a model need not communicate, so they are not
	 * counted. */
	one.degrees[DEGREE_DATA] = one.degrees[DEGREE_LOCAL] =
		(struct degree){0};
	n = parallel_devices(&one, &by);
	if (n > 1 && by)
		report_container(
			run, c, by->node,
			"%s starts %s on parts of GPUs (`%s`): NCCL rejects two of them on one GPU, unless NCCL_MULTI_RANK_GPU_ENABLE=1 allows it (NCCL 2.30 and later)",
			launcher->program, rule_count(run, n, "rank"),
			c->resource);
	else if (nodes->given && !nodes->unknown && nodes->n > 1 &&
		 c->pod->steady.n > 1 && !launcher->cpu)
		report_container(
			run, c, nodes->node,
			"%s has a rank in each of %s, on parts of GPUs (`%s`): if two of them are on one GPU, NCCL rejects them, unless NCCL_MULTI_RANK_GPU_ENABLE=1 allows it (NCCL 2.30 and later)",
			launcher->program, rule_count(run, nodes->n, "pod"),
			c->resource);
}

static void check(struct rule_run *run, const struct pod *pod)
{
	FOR_EACH_CONTAINER(pod, c) {
		struct parallel_list list;

		/* With this variable, NCCL 2.30 and later allow two ranks on
		 * one GPU. */
		if (!c->accelerator || c->gpus.unknown || !c->gpus.n ||
		    !is_part(run, c) ||
		    container_env(c, "NCCL_MULTI_RANK_GPU_ENABLE"))
			continue;
		list = container_parallel(c);
		for (size_t i = 0; i < list.n; i++)
			check_ranks(run, c, &list.items[i]);
	}
}

const struct rule rule_mig_or_shared_with_nccl = {
	.name = "mig-or-shared-with-nccl",
	.category = "scheduling",
	.severity = SEVERITY_WARNING,
	.flags = RULE_PREVIEW,
	.summary = "several processes each use a slice or a share of a GPU",
	.why = "NCCL rejects two ranks on one GPU (`Duplicate GPU detected`), unless NCCL_MULTI_RANK_GPU_ENABLE=1 allows it (NCCL 2.30 and later).",
	.remedy =
		"Give each process a whole GPU, run one process, or set NCCL_MULTI_RANK_GPU_ENABLE=1 with NCCL 2.30 or later.",
	.evidence =
		"https://github.com/NVIDIA/nccl/issues/1716; https://github.com/NVIDIA/gpu-operator/issues/386",
	.check_pod = check,
};
