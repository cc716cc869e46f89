/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports values of product labels that are unknown, or that no node has. The
 * values of GKE's gke-accelerator and gke-tpu-accelerator are listed in a
 * table; because new products appear, the finding is an info. With a snapshot,
 * the values of all product labels are compared with the labels of the nodes.
 */
#include "base/array.h"
#include "base/text.h"
#include "engine/rule.h"
#include "kube/scheduling/affinity.h"
#include "kube/scheduling/node_match.h"

/* Reports a value that is not in the table of its key. Skips keys without a
 * table. */
static void check_value(struct rule_run *run, const struct pod *pod,
			const struct node_need *need, const struct node *value)
{
	const struct label_value *row = NULL;
	const char *names[64], *near;
	struct finding *f;
	size_t n = 0;

	if (!node_str(value) || label_value_find(need->key, node_str(value)))
		return;
	while (n < ARRAY_SIZE(names) &&
	       (row = label_value_next(need->key, row)))
		names[n++] = row->value;
	if (!n)
		return;
	f = report_pod(run, pod, value, "`%s` is not a known value of `%s`",
		       node_str(value), need->key);
	near = text_nearest(node_str(value), names, n);
	if (near)
		finding_help(run, f, "did you mean `%s`?", near);
}

static bool is_product(const char *key)
{
	const struct node_label *label = node_label_find(key);

	return label && label->meaning == LABEL_PRODUCT;
}

static void check_nodes(struct rule_run *run, const struct pod *pod,
			const struct node_need *need, const struct node *value)
{
	const struct cluster *cluster = rule_cluster(run);
	const char *near;
	struct finding *f;

	if (!node_str(value) ||
	    nodes_with_label(cluster, pod, need->key, node_str(value)))
		return;
	f = report_pod(run, pod, value, "no node of the cluster has `%s=%s`",
		       need->key, node_str(value));
	finding_severity(f, SEVERITY_WARNING);
	near = nodes_nearest_label(cluster, rule_arena(run), need->key,
				   node_str(value));
	if (near)
		finding_help(run, f, "did you mean `%s`?", near);
}

static void check(struct rule_run *run, const struct pod *pod)
{
	struct node_needs needs = pod_node_needs(pod);
	bool nodes = cluster_shows_nodes(rule_cluster(run));

	for (size_t i = 0; i < needs.n; i++) {
		const struct node_need *need = &needs.items[i];

		for (const struct node *value = node_need_value(need, 0); value;
		     value = node_need_next(need, value)) {
			if (nodes && is_product(need->key))
				check_nodes(run, pod, need, value);
			else
				check_value(run, pod, need, value);
		}
	}
}

const struct rule rule_gpu_product_label_unknown = {
	.name = "gpu-product-label-unknown",
	.category = "scheduling",
	.severity = SEVERITY_INFO,
	.summary =
		"a pod selects an accelerator product that is unknown on the platform, or that no node has",
	.why = "If no node has the value, the pod stays Pending.",
	.remedy = "Use a value that the platform documents or the nodes have.",
	.evidence =
		"https://cloud.google.com/kubernetes-engine/docs/how-to/gpus; https://cloud.google.com/kubernetes-engine/docs/how-to/tpus",
	.check_pod = check,
};
