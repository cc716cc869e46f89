/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A product label whose list of values is closed (GKE's gke-accelerator and
 * gke-tpu-accelerator) with a value that is not in it: no node will have it.
 * New products come, so this is advice; a cluster state would be proof.
 */
#include "base/text.h"
#include "engine/rule.h"
#include "kube/affinity.h"

static void check_value(struct rule_run *run, const struct pod *pod,
			const struct node_need *need, const struct node *value)
{
	const char *near;
	struct finding *f;

	if (!node_str(value) || label_value_find(need->key, node_str(value)))
		return;
	f = report_pod(run, pod, value, "`%s` is no known value of `%s`",
		       node_str(value), need->key);
	near = label_value_nearest(need->key, node_str(value));
	if (near)
		finding_help(run, f, "did you mean `%s`?", near);
}

static void check(struct rule_run *run, const struct pod *pod)
{
	struct node_needs needs = pod_node_needs(rule_arena(run), pod);

	for (size_t i = 0; i < needs.n; i++) {
		const struct node_need *need = &needs.items[i];
		const struct node *value;

		if (!label_values_known(need->key))
			continue;
		for (size_t v = 0; (value = node_need_value(need, v)); v++)
			check_value(run, pod, need, value);
	}
}

const struct rule rule_gpu_product_label_unknown = {
	.name = "gpu-product-label-unknown",
	.category = "scheduling",
	.severity = SEVERITY_INFO,
	.action = ACTION_AUDIT,
	.since = "1.0",
	.summary = "a product label has a value that its platform does not use",
	.why = "No node carries the value, so the pod stays Pending.",
	.remedy = "Use one of the platform's values.",
	.evidence = "GKE documentation of GPU and TPU node pools",
	.check_pod = check,
};
