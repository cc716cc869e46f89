/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports servers with one replica that can run only on spot nodes, because of
 * a selector. A toleration alone is fine: other nodes remain as a fallback.
 * Skips Jobs that start a server for their own work, which are retried, Pods,
 * which may be some of several behind a Service, and tests.
 */
#include "engine/rule.h"
#include "kube/purpose/purpose.h"
#include "kube/scheduling/affinity.h"

static bool allows_only_spot(const struct node_need *need)
{
	const struct node *value = node_need_value(need, 0);

	if (!value)
		return false;
	for (; value; value = node_need_next(need, value))
		if (!spot_is_selected(need->key, value))
			return false;
	return true;
}

/* True if the pod's selectors allow only spot nodes. */
static bool is_spot_only(const struct pod *pod)
{
	struct node_needs needs = pod_node_needs(pod);

	return node_needs_imply(&needs, allows_only_spot);
}

static bool serves_others(const struct pod *pod)
{
	enum kind_class class = pod->object->class;

	return class != KIND_BATCH && class != KIND_POD &&
	       pod_is_serving(pod) && !pod_is_test(pod);
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct node *spot = pod_spot(pod);

	if (!spot || pod->steady.unknown || pod->steady.n != 1 ||
	    pod->peak.n > 2 || !serves_others(pod) || !is_spot_only(pod))
		return;
	/* An autoscaler may set the number of replicas of a Deployment. */
	report_pod(
		run, pod, spot,
		pod->object->class == KIND_SERVICE
			? "unless an autoscaler adds replicas, the only replica runs on spot nodes: when its node is reclaimed, none answers"
			: "the only replica runs on spot nodes: when its node is reclaimed, none answers");
}

const struct rule rule_spot_serving_no_fallback = {
	.name = "spot-serving-no-fallback",
	.category = "spot",
	.severity = SEVERITY_WARNING,
	.flags = RULE_PREVIEW,
	.scope = GPU_PODS | PODSPEC,
	.summary = "a single replica runs only on spot nodes",
	.why = "When the node is reclaimed, no replica answers until another spot node is available, which may take any length of time.",
	.remedy =
		"Run two or more replicas, or prefer spot nodes instead of requiring them.",
	.evidence =
		"https://cloud.google.com/kubernetes-engine/docs/concepts/spot-vms",
	.check_pod = check,
};
