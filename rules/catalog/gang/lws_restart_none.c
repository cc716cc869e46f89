/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports groups of a LeaderWorkerSet whose other pods keep running when one
 * restarts. `Default` is the deprecated spelling of `None`.
 */
#include "engine/rule.h"
#include "kube/lifecycle/lifecycle.h"

static void check(struct rule_run *run, const struct object *object)
{
	const struct node *policy;

	if (object->gang.n < 2 ||
	    !object_is(object, "leaderworkerset.x-k8s.io", "LeaderWorkerSet"))
		return;
	policy = node_path(object->root,
			   "spec.leaderWorkerTemplate.restartPolicy");
	if (!object_gpu_pod(object) ||
	    (!node_eq(policy, "None") && !node_eq(policy, "Default")))
		return;
	report_object(
		run, object, policy,
		"`restartPolicy: %s` lets a group of %s keep running while one of them restarts",
		node_str(policy), rule_count(run, object->gang.n, "pod"));
}

const struct rule rule_lws_restart_none = {
	.name = "lws-restart-none",
	.category = "gang",
	.severity = SEVERITY_WARNING,
	.scope = GPU_PODS,
	.summary =
		"a group of pods that keeps running when one of them restarts",
	.why = "The other ranks usually wait for the one that has lost its state: the group answers no requests and keeps its GPUs.",
	.remedy =
		"Leave restartPolicy unset, or set RecreateGroupOnPodRestart.",
	.evidence = "https://lws.sigs.k8s.io/docs/concepts/",
	.check_object = check,
};
