/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports pods that select AKS spot nodes without tolerating their taint. Only
 * AKS taints the nodes of all spot node pools. Nodes that Karpenter creates
 * (node auto-provisioning) have the label, but the taints of their NodePool.
 */
#include "engine/rule.h"
#include "kube/scheduling/selector.h"

static const char key[] = "kubernetes.azure.com/scalesetpriority";

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct node *at = node_get(pod_field(pod, "nodeSelector"), key);
	const struct node *list = pod_field(pod, "tolerations");
	struct arena *arena = rule_arena(run);
	struct node *toleration;
	struct finding *f;

	if (!node_eq(at, "spot") ||
	    tolerations_tolerate(list, key, "spot", "NoSchedule") != TRI_NO)
		return;
	f = report_pod(
		run, pod, at,
		"the pods do not tolerate `%s=spot`, the taint of spot node pools in AKS",
		key);
	toleration = edit_map(arena);
	edit_member_string(arena, toleration, "key", key);
	edit_member_string(arena, toleration, "operator", "Equal");
	edit_member_string(arena, toleration, "value", "spot");
	edit_member_string(arena, toleration, "effect", "NoSchedule");
	fix_ensure(
		finding_fix(run, f, true, "add a toleration of `%s=spot`", key),
		pod->spec, "tolerations", toleration,
		"key,operator,value,effect");
}

const struct rule rule_spot_toleration_missing = {
	.name = "spot-toleration-missing",
	.category = "spot",
	.severity = SEVERITY_WARNING,
	.flags = RULE_PREVIEW | RULE_SAFE_PATCH,
	.scope = GPU_PODS | PODSPEC,
	.summary = "pods select AKS spot nodes but do not tolerate their taint",
	.why = "AKS taints every spot node pool with kubernetes.azure.com/scalesetpriority=spot:NoSchedule: the pods fit none of these nodes.",
	.remedy = "Add a toleration for the taint.",
	.evidence = "https://learn.microsoft.com/azure/aks/spot-node-pool",
	.check_pod = check,
};
