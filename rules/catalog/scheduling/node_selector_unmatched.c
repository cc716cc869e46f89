/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports GPU pods whose nodeSelector, required affinity or tolerations match
 * no node of the cluster: they stay Pending, unless an autoscaler adds such a
 * node (an autoscaler that scales from zero cannot be detected, so this is a
 * warning; if there are Karpenter NodePools, nothing is reported). Source:
 * scheduler plugins NodeAffinity and TaintToleration.
 */
#include "engine/rule.h"
#include "kube/scheduling/node_match.h"

/* Returns the first value of a requirement none of whose values any node has,
 * and sets *need to the requirement. Returns NULL if there is no such
 * requirement. */
static const struct node *missing(const struct cluster *cluster,
				  const struct pod *pod,
				  const struct node_need **need)
{
	struct node_needs needs = pod_node_needs(pod);

	for (size_t i = 0; i < needs.n; i++) {
		const struct node_need *one = needs.items + i;
		const struct node *value;

		/* Another one of the ORed terms may match. */
		if (one->term && needs.terms > 1)
			continue;
		for (value = node_need_value(one, 0); value;
		     value = node_need_next(one, value)) {
			if (!node_str(value) ||
			    nodes_with_label(cluster, pod, one->key,
					     node_str(value)))
				break;
			*need = one;
		}
		if (!value && *need == one)
			return node_need_value(*need, 0);
	}
	return NULL;
}

static void report_label(struct rule_run *run, const struct cluster *cluster,
			 const struct pod *pod)
{
	const struct node_need *need = NULL;
	const struct node *value = missing(cluster, pod, &need);
	struct finding *f;
	const char *near;

	if (!value) {
		report_pod(
			run, pod, NULL,
			"no node of the cluster (%s) has all labels that the pods select",
			rule_count(
				run,
				(int64_t)cluster_count(cluster, CLUSTER_NODE),
				"node"));
		return;
	}
	f = report_pod(run, pod, value, "no node of the cluster has `%s=%s`",
		       need->key, node_str(value));
	near = nodes_nearest_label(cluster, rule_arena(run), need->key,
				   node_str(value));
	if (near)
		finding_help(run, f, "did you mean `%s`?", near);
}

static void report_taint(struct rule_run *run, const struct pod *pod,
			 const struct node_match *match)
{
	const char *value = node_str(node_get(match->taint, "value"));

	report_pod(
		run, pod, pod_field(pod, "tolerations"),
		"the selectors of the pods match %s, but the pods tolerate the taints of none of them (for example `%s%s%s:%s`)",
		rule_count(run, match->selected, "node"),
		node_str(node_get(match->taint, "key")),
		value && *value ? "=" : "", value ? value : "",
		node_str(node_get(match->taint, "effect")));
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct cluster *cluster;
	struct node_match match;

	if (pod->injects & INJECT_SELECTOR)
		return;
	cluster = rule_needs_cluster(run, CLUSTER_NODE);
	if (!cluster_shows_nodes(cluster))
		return;
	match = pod_node_match(cluster, pod, NULL);
	if (match.unknown)
		return;
	if (!match.selected)
		report_label(run, cluster, pod);
	/* Kueue's flavors and RuntimeClasses add tolerations. With nodeName,
	 * only the kubelet checks tolerations, and not for NoSchedule. */
	else if (!match.tolerated && !pod->object->kueue &&
		 node_is_unset(pod_field(pod, "nodeName")) &&
		 node_is_unset(pod_field(pod, "runtimeClassName")))
		report_taint(run, pod, &match);
}

const struct rule rule_node_selector_unmatched = {
	.name = "node-selector-unmatched",
	.category = "scheduling",
	.severity = SEVERITY_WARNING,
	.needs = NEEDS_CLUSTER,
	.scope = GPU_PODS | PODSPEC,
	.summary =
		"the selectors or tolerations of GPU pods fit no node of the cluster",
	.why = "The pods stay Pending unless an autoscaler adds such a node.",
	.remedy =
		"Select labels that nodes have, and tolerate the taints of these nodes.",
	.evidence =
		"https://github.com/kubernetes/kubernetes/tree/master/pkg/scheduler/framework/plugins/nodeaffinity; https://github.com/kubernetes/kubernetes/tree/master/pkg/scheduler/framework/plugins/tainttoleration",
	.yields_to = (const char *const[]){"gpu-product-label-unknown", NULL},
	.check_pod = check,
};
