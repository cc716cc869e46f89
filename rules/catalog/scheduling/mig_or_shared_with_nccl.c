/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks need devices of their own.
 */
#include <inttypes.h>

#include "engine/rule.h"
#include "kube/command/parallel.h"

static bool is_part(const struct container *c)
{
	return c->accelerator && !c->gpus.unknown && c->gpus.n > 0 &&
	       (c->accelerator->class == ACCEL_MIG ||
		c->accelerator->class == ACCEL_SHARED);
}

static void check(struct rule_run *run, const struct pod *pod)
{
	FOR_EACH_CONTAINER(pod, c) {
		struct parallel_list list;

		if (!is_part(c))
			continue;
		list = container_parallel(c);
		for (size_t i = 0; i < list.n; i++) {
			const struct degree *by;
			int64_t n = parallel_devices(&list.items[i], &by);

			if (n < 2 || !by)
				continue;
			report_container(
				run, c, by->node,
				"%s starts %" PRId64
				" ranks on parts of GPUs (`%s`), which "
				"most releases of NCCL refuse",
				list.items[i].program, n, c->resource);
		}
	}
}

const struct rule rule_mig_or_shared_with_nccl = {
	.name = "mig-or-shared-with-nccl",
	.category = "scheduling",
	.severity = SEVERITY_WARNING,
	.flags = RULE_PREVIEW,
	.wants = FACT_EXTENDED,
	.since = "1.0",
	.summary = "several processes, each on a slice or a share of a GPU",
	.why = "NCCL refuses two ranks on one GPU (`Duplicate GPU detected`) and MIG instances have no links between them.",
	.remedy = "Give each process a whole GPU, or run one process.",
	.evidence =
		"https://github.com/NVIDIA/nccl/issues/1716; https://github.com/NVIDIA/gpu-operator/issues/386",
	.check_pod = check,
};
