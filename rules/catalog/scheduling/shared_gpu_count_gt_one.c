/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports containers that request several shares of GPUs.
 *
 * Source: README of the device plugin: a request for more than one shared GPU
 * does not guarantee more computing time.
 */
#include "engine/rule.h"
#include "kube/scheduling/node_match.h"

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
			report_container(
				run, c, entry->node,
				"container `%s` requests %s, which may come from one GPU or be rejected",
				container_title(c),
				rule_count(run, quantity_value(entry->quantity),
					   "GPU share"));
		}
}

const struct rule rule_shared_gpu_count_gt_one = {
	.name = "shared-gpu-count-gt-one",
	.category = "scheduling",
	.severity = SEVERITY_WARNING,
	.summary = "one container requests several shares of GPUs",
	.why = "Several shares guarantee no more compute or memory than one: they may come from the same GPU, and a device plugin with failRequestsGreaterThanOne rejects the pod (UnexpectedAdmissionError).",
	.remedy = "Request one share, or whole GPUs.",
	.evidence =
		"https://github.com/NVIDIA/k8s-device-plugin#with-cuda-time-slicing; https://cloud.google.com/kubernetes-engine/docs/concepts/timesharing-gpus",
	.check_pod = check,
};
