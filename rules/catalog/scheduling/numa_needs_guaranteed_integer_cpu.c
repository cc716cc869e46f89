/* SPDX-License-Identifier: Apache-2.0 */
/*
 * validateTaskTopoPolicy of the webhook.
 */
#include "engine/rule.h"
#include "kube/object.h"

/* As the webhook reads it: limits count only where there are no requests. */
static bool is_refused(const struct container *c)
{
	const int64_t one = INT64_C(1000000000);
	const char *const name = "cpu";
	struct quantity q;
	enum quantity_state is = node_count(container_requests(c))
					 ? container_request(c, name, &q)
					 : container_limit(c, name, &q);

	if (node_is_unknown(c->resources))
		return false;
	return is == QUANTITY_ABSENT ||
	       (is == QUANTITY_OK && (q.nano < one || q.nano % one));
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct node *policy = node_get(pod->group, "topologyPolicy");

	if (!object_is(pod->object, "batch.volcano.sh", "Job") ||
	    !node_str(policy) || node_eq(policy, "none") ||
	    node_eq(policy, "") || pod_uses_gpu(pod) != TRI_YES)
		return;
	FOR_EACH_CONTAINER(pod, c)
		if (is_refused(c)) {
			report_pod(run, pod, policy,
				   "`topologyPolicy: %s` needs a request of "
				   "whole CPUs, container `%s` has none",
				   node_str(policy), container_title(c));
			return;
		}
}

const struct rule rule_numa_needs_guaranteed_integer_cpu = {
	.name = "numa-needs-guaranteed-integer-cpu",
	.category = "scheduling",
	.severity = SEVERITY_ERROR,
	.wants = FACT_GPU | FACT_VOLCANO,
	.since = "1.0",
	.summary = "a Volcano task with a NUMA policy and no whole CPUs",
	.why = "Volcano refuses the job: without whole CPUs there is nothing to align.",
	.remedy =
		"Set the same whole number of CPUs in requests and limits of all containers, or drop topologyPolicy.",
	.evidence =
		"https://github.com/volcano-sh/volcano/blob/master/pkg/webhooks/admission/jobs/validate/admit_job.go",
	.check_pod = check,
};
