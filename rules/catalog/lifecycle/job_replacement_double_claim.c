/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports Jobs that request GPUs twice while they replace a pod. Unless a
 * podFailurePolicy is set, a Job creates the replacement of a pod as soon as
 * the pod begins to terminate (podReplacementPolicy TerminatingOrFailed). The
 * old pod holds its GPUs and its share of the quota until its grace period
 * ends, so that the new one waits for GPUs or is rejected. With backoffLimit 0
 * pods are not replaced. Source: kubernetes/api batch/v1 types.go
 * PodReplacementPolicy, KEP-3939.
 */
#include "engine/rule.h"
#include "kube/lifecycle/lifecycle.h"
#include "kube/scheduling/affinity.h"

/* Returns yes if the effective policy is TerminatingOrFailed. */
static enum tri replaces_early(const struct pod *pod, const struct node *spec)
{
	const struct node *policy = node_get(spec, "podReplacementPolicy");

	if (node_is_unknown(policy))
		return TRI_UNKNOWN;
	/* The API server rejects any value but Failed together with a
	 * podFailurePolicy, which restart-policy-invalid reports. */
	if (!node_is_unset(policy) &&
	    !node_is_unset(node_get(spec, "podFailurePolicy")))
		return TRI_NO;
	if (!node_is_unset(policy))
		return tri_from(node_eq(policy, "TerminatingOrFailed"));
	if (pod->object->fragment)
		return TRI_UNKNOWN;
	return tri_from(node_is_unset(node_get(spec, "podFailurePolicy")));
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct node *spec = pod_job_spec(pod);
	const struct node *policy = node_get(spec, "podReplacementPolicy");
	struct finding *f;
	int64_t retries;

	if (!spec || pod->object->class == KIND_TEMPLATE ||
	    replaces_early(pod, spec) != TRI_YES ||
	    (node_int(node_get(spec, "backoffLimit"), &retries) &&
	     retries == 0))
		return;
	f = report_pod(
		run, pod, node_is_unset(policy) ? spec : policy,
		"podReplacementPolicy is `TerminatingOrFailed`%s: if a pod is deleted or preempted, its replacement requests %ss before the old pod has released them",
		node_is_unset(policy) ? " by default" : "", pod_device(pod));
	finding_missing(f, pod->object, spec, "podReplacementPolicy");
	/* With Failed, a pod on a lost node is not replaced until the Node
	 * object is deleted, which happens automatically only for spot
	 * nodes. */
	fix_set(finding_fix(run, f, pod_spot(pod),
			    "set `podReplacementPolicy: Failed`"),
		spec, "podReplacementPolicy",
		edit_string(rule_arena(run), "Failed"));
}

const struct rule rule_job_replacement_double_claim = {
	.name = "job-replacement-double-claim",
	.category = "lifecycle",
	.severity = SEVERITY_INFO,
	.flags = RULE_SAFE_PATCH | RULE_OPT_IN_PATCH,
	.scope = GPU_PODS,
	.summary =
		"a GPU Job replaces pods that are still terminating and hold their GPUs",
	.why = "While the old pod terminates, its GPUs are requested twice: the quota may be exceeded, or the new pod stays Pending.",
	.remedy = "Set podReplacementPolicy: Failed.",
	.evidence =
		"https://github.com/kubernetes/api/blob/master/batch/v1/types.go PodReplacementPolicy; https://kep.k8s.io/3939",
	.check_pod = check,
};
