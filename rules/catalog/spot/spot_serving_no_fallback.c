/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where nodes of both types fit, the pods have somewhere to go: a toleration
 * lets them onto spot nodes, a selector for nothing else keeps them there. A
 * Job that starts a server for its own work is run again, and a Pod may be one
 * of several behind a Service. A test may be lost.
 */
#include "engine/rule.h"
#include "kube/purpose/class.h"
#include "kube/scheduling/spot.h"

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
	    pod->peak.n > 2 || !serves_others(pod) || !pod_is_spot_only(pod))
		return;
	/* The number of a Deployment is that of its autoscaler. */
	report_pod(
		run, pod, spot,
		pod->object->class == KIND_SERVICE
			? "unless an autoscaler adds replicas, the only replica runs on spot nodes"
			: "the only replica runs on spot nodes");
}

const struct rule rule_spot_serving_no_fallback = {
	.name = "spot-serving-no-fallback",
	.category = "spot",
	.severity = SEVERITY_WARNING,
	.flags = RULE_PREVIEW,
	.scope = GPU_PODS | PODSPEC,
	.since = "1.0",
	.summary = "a single replica runs only on spot nodes",
	.why = "When the node is reclaimed, no replica answers until another spot node is available, which may be never.",
	.remedy =
		"Run two or more replicas, or prefer spot nodes instead of requiring them.",
	.evidence =
		"https://cloud.google.com/kubernetes-engine/docs/concepts/spot-vms",
	.check_pod = check,
};
