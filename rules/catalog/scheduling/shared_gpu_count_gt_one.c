/* SPDX-License-Identifier: Apache-2.0 */
/*
 * README of the device plugin: requesting more than one shared GPU guarantees
 * nothing.
 */
#include <inttypes.h>

#include "engine/rule.h"
#include "kube/scheduling/sharing.h"

static bool is_share(struct rule_run *run, const struct container *c,
		     const struct resource_entry *entry)
{
	return container_unit(rule_cluster(run), c, entry) == ACCEL_SHARED;
}

static void check(struct rule_run *run, const struct pod *pod)
{
	FOR_EACH_CONTAINER(pod, c)
		FOR_EACH_ASKED(c, entry) {
			if (!entry->accelerator ||
			    entry->state != QUANTITY_OK ||
			    quantity_value(entry->quantity) < 2 ||
			    !is_share(run, c, entry))
				continue;
			report_container(run, c, entry->node,
					 "container `%s` asks for %" PRId64
					 " shares: they may be of one GPU, "
					 "or are refused",
					 container_title(c),
					 quantity_value(entry->quantity));
		}
}

const struct rule rule_shared_gpu_count_gt_one = {
	.name = "shared-gpu-count-gt-one",
	.category = "scheduling",
	.severity = SEVERITY_WARNING,
	.wants = FACT_EXTENDED | FACT_NEW,
	.since = "1.0",
	.summary = "several shares of GPUs in one container",
	.why = "Several shares guarantee no more compute or memory than one: they may be of the same GPU, and a plugin with failRequestsGreaterThanOne refuses the pod (UnexpectedAdmissionError).",
	.remedy = "Ask for one share, or for whole GPUs.",
	.evidence =
		"https://github.com/NVIDIA/k8s-device-plugin#with-cuda-time-slicing; https://cloud.google.com/kubernetes-engine/docs/concepts/timesharing-gpus",
	.check_pod = check,
};
