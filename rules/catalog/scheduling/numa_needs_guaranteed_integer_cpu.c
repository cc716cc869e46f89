/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports Volcano tasks with a NUMA policy that are not Guaranteed or do not
 * request whole CPUs. Source: validateTaskTopoPolicy of Volcano's webhook.
 */
#include "engine/rule.h"
#include "kube/object.h"

/* Reads the request like the webhook: the limit counts only if no requests are
 * set. */
static enum quantity_state request_of(const struct container *c,
				      const char *name, struct quantity *q)
{
	return node_count(container_requests(c)) ? container_request(c, name, q)
						 : container_limit(c, name, q);
}

static bool lacks_cpus(const struct container *c)
{
	const int64_t one = INT64_C(1000000000);
	struct quantity q;
	enum quantity_state is = request_of(c, "cpu", &q);

	return is == QUANTITY_ABSENT ||
	       (is == QUANTITY_OK && (q.nano < one || q.nano % one));
}

/* True if request and limit are equal. GetPodQOS() compares sums over
 * containers; because no request is above its limit, the sums are equal if each
 * pair is. */
static bool is_guaranteed(const struct container *c, const char *name)
{
	struct quantity request, limit;
	enum quantity_state wants = request_of(c, name, &request);
	enum quantity_state may = container_limit(c, name, &limit);

	if (wants == QUANTITY_ABSENT || may == QUANTITY_ABSENT)
		return false;
	return wants != QUANTITY_OK || may != QUANTITY_OK ||
	       request.nano == limit.nano;
}

/* Returns the requirement that the container does not meet, or NULL. */
static const char *unmet_requirement(const struct container *c)
{
	if (node_is_unknown(c->resources))
		return NULL;
	if (lacks_cpus(c))
		return "a request of whole CPUs";
	/* Newer releases may count the resources of the pod itself. */
	if (!node_is_unset(pod_field(c->pod, "resources")))
		return NULL;
	if (!is_guaranteed(c, "cpu"))
		return "a CPU limit as high as the request";
	if (!is_guaranteed(c, "memory"))
		return "a memory request and limit of the same amount";
	return NULL;
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct node *policy = node_get(pod->group, "topologyPolicy");

	if (!object_is(pod->object, "batch.volcano.sh", "Job") ||
	    !node_str(policy) || node_eq(policy, "none") || node_eq(policy, ""))
		return;
	FOR_EACH_CONTAINER(pod, c) {
		const char *what = unmet_requirement(c);

		if (!what)
			continue;
		report_pod(
			run, pod, policy,
			"`topologyPolicy: %s` requires %s, but container `%s` has none",
			node_str(policy), what, container_title(c));
		return;
	}
}

const struct rule rule_numa_needs_guaranteed_integer_cpu = {
	.name = "numa-needs-guaranteed-integer-cpu",
	.category = "scheduling",
	.severity = SEVERITY_ERROR,
	.scope = GPU_PODS,
	.summary =
		"a Volcano task with a NUMA policy is not Guaranteed or does not request whole CPUs",
	.why = "Volcano rejects the job: the kubelet aligns only whole CPUs of Guaranteed pods.",
	.remedy =
		"Set the same whole number of CPUs and the same memory in requests and limits of all containers, or remove topologyPolicy.",
	.evidence =
		"https://github.com/volcano-sh/volcano/blob/master/pkg/webhooks/admission/jobs/validate/admit_job.go",
	.check_pod = check,
};
