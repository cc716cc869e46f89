/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports training pods that an autoscaler may move off underused nodes. The
 * annotation safe-to-evict or do-not-disrupt, with any value, shows that the
 * author has decided. Pods of an exclusive topology are skipped, because they
 * fit on no other node, and so are pods that may run on spot nodes, which can
 * be reclaimed anyway. The fix is unsafe, because a pod that hangs then keeps
 * its node until it is deleted. Since Karpenter 1.12 the value may be a
 * duration, for which the fix uses the job's deadline; before, any value except
 * "true" was ignored.
 *
 * Source: kubernetes-sigs/karpenter pkg/utils/pod/scheduling.go, v1.11.0
 * HasDoNotDisrupt, v1.12.0 IsDoNotDisruptActive.
 */
#include "engine/rule.h"
#include "kube/lifecycle/lifecycle.h"
#include "kube/purpose/purpose.h"
#include "kube/scheduling/affinity.h"

static const char evict[] = "cluster-autoscaler.kubernetes.io/safe-to-evict";
static const char disrupt[] = "karpenter.sh/do-not-disrupt";

/* True if the autoscaler moves the pod. It moves pods of Jobs, but not Pods
 * without a controller or pods of DaemonSets. */
static bool is_moved(const struct pod *pod)
{
	const struct object *object = pod->object;

	return object->class != KIND_POD && object->class != KIND_TEMPLATE &&
	       object->class != KIND_DAEMON && !object->fragment;
}

static bool is_exclusive(const struct object *object)
{
	return object_annotation(
		       object, "alpha.jobset.sigs.k8s.io/exclusive-topology") ||
	       object_annotation(
		       object,
		       "leaderworkerset.sigs.k8s.io/exclusive-topology");
}

static const char *disrupt_value(struct rule_run *run, const struct pod *pod)
{
	int64_t seconds;

	if (rule_karpenter(run) >= 12 &&
	    node_int(pod_run_deadline(pod), &seconds) && seconds > 0)
		return arena_printf(rule_arena(run), "%ss",
				    rule_number(run, seconds));
	return "true";
}

static void check(struct rule_run *run, const struct pod *pod)
{
	struct arena *arena = rule_arena(run);
	const char *value;
	struct finding *f;
	struct fix *fix;

	if (!pod->template || !is_moved(pod) || !pod_is_training(pod) ||
	    pod_spot(pod) || is_exclusive(pod->object) ||
	    pod_annotation(pod, evict) || pod_annotation(pod, disrupt))
		return;
	value = disrupt_value(run, pod);
	f = report_pod(
		run, pod, pod->template,
		"if an autoscaler drains underused nodes, it may evict this training run");
	finding_missing(f, pod->object, pod->template, "metadata.annotations");
	fix = finding_fix(
		run, f, false,
		"set the annotations `%s: \"false\"` and `%s: \"%s\"`", evict,
		disrupt, value);
	fix_set_key(fix, pod->template, "metadata.annotations", evict,
		    edit_string(arena, "false"));
	fix_set_key(fix, pod->template, "metadata.annotations", disrupt,
		    edit_string(arena, value));
}

const struct rule rule_autoscaler_may_evict_training = {
	.name = "autoscaler-may-evict-training",
	.category = "spot",
	.severity = SEVERITY_INFO,
	.flags = RULE_PREVIEW | RULE_OPT_IN_PATCH | RULE_ABSENCE,
	.scope = GPU_PODS | PODSPEC,
	.summary = "an autoscaler may evict training pods",
	.why = "Cluster Autoscaler and Karpenter drain underused nodes, and a run of several days may start over.",
	.remedy =
		"Annotate the pod template with cluster-autoscaler.kubernetes.io/safe-to-evict: \"false\" and karpenter.sh/do-not-disrupt: \"true\". Karpenter 1.12 and later accept a duration, such as the deadline of the job.",
	.evidence =
		"https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/FAQ.md; https://karpenter.sh/docs/concepts/disruption/#pod-level-controls",
	.check_pod = check,
};
