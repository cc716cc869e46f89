/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A toleration allows spot nodes, and other nodes remain as a fallback; a
 * selector for spot nodes alone keeps the pods there. Skipped are a Job that
 * starts a server for its own work, which is run again, a Pod, which may be one
 * of several behind a Service, and a test.
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
	/* The autoscaler sets the number of a Deployment. */
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
