/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports tensor parallel sizes that are not a power of two. Attention heads
 * are divided evenly among the ranks.
 */
#include "engine/rule.h"
#include "kube/command/parallel.h"

static void check(struct rule_run *run, const struct pod *pod)
{
	FOR_EACH_CONTAINER(pod, c) {
		struct parallel_list list;

		if (container_uses_gpu(c) == TRI_NO)
			continue;
		list = container_parallel(c);
		for (size_t i = 0; i < list.n; i++) {
			const struct degree *tensor =
				&list.items[i].degrees[DEGREE_TENSOR];

			if (tensor->n & (tensor->n - 1))
				report_container(
					run, c, tensor->node,
					"`%s` is %s: if the number of the model's attention heads is not divisible by it, %s rejects the model",
					tensor->by, rule_number(run, tensor->n),
					list.items[i].program);
		}
	}
}

const struct rule rule_gpu_not_power_of_two_tp = {
	.name = "gpu-not-power-of-two-tp",
	.category = "parallelism",
	.severity = SEVERITY_INFO,
	.flags = RULE_PREVIEW,
	.summary = "a tensor parallel size that is not a power of two",
	.why = "The number of attention heads must be divisible by the tensor parallel size. In many models, the number of heads is a power of two, so the server rejects other sizes.",
	.remedy =
		"Use 1, 2, 4, 8 or 16 unless the model's attention heads are divisible by your number.",
	.evidence =
		"https://docs.vllm.ai/en/latest/serving/parallelism_scaling/",
	.check_pod = check,
};
