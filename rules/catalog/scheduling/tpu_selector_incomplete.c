/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports TPU pods that select an accelerator or a topology, but not both. One
 * without the other selects no slice.
 */
#include "base/text.h"
#include "engine/rule.h"
#include "kube/lifecycle/lifecycle.h"
#include "kube/scheduling/affinity.h"

static const char *const keys[] = {"cloud.google.com/gke-tpu-accelerator",
				   "cloud.google.com/gke-tpu-topology"};

static bool asks_for_tpu(const struct pod *pod)
{
	FOR_EACH_CONTAINER(pod, c)
		if (c->accelerator && text_eq(c->accelerator->vendor, "google"))
			return true;
	return false;
}

static bool names_pool(const char *key)
{
	return text_eq(key, "cloud.google.com/gke-nodepool") ||
	       text_eq(key, "cloud.google.com/compute-class") ||
	       text_eq(key, "kubernetes.io/hostname");
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct node *found[2] = {NULL, NULL};
	struct node_needs needs;
	bool first;

	/* The topology of slices that are created on demand is in other
	 * fields. */
	if (!asks_for_tpu(pod) || object_is_queued(pod->object) ||
	    pod_annotation(pod, "cloud.google.com/gke-tpu-slice-topology"))
		return;
	needs = pod_node_needs(pod);
	for (size_t i = 0; i < needs.n; i++) {
		if (!node_need_requires(&needs.items[i]))
			continue;
		/* Another label names the node pool, or the tool that creates
		 * it. */
		if (names_pool(needs.items[i].key))
			return;
		for (size_t k = 0; k < 2; k++)
			if (text_eq(needs.items[i].key, keys[k]))
				found[k] = needs.items[i].at;
	}
	if (needs.unknown || needs.terms > 1 || !found[0] == !found[1])
		return;
	first = found[0] != NULL;
	report_pod(
		run, pod, found[!first],
		"the TPU pods select `%s` but not `%s`: if no matching node exists, GKE creates none",
		keys[!first], keys[first]);
}

const struct rule rule_tpu_selector_incomplete = {
	.name = "tpu-selector-incomplete",
	.category = "scheduling",
	.severity = SEVERITY_INFO,
	.flags = RULE_ABSENCE,
	.summary = "TPU pods select an accelerator or a topology, but not both",
	.why = "GKE needs both labels to create TPU slices: if no matching node exists, the pods stay Pending.",
	.remedy =
		"Select by cloud.google.com/gke-tpu-accelerator and cloud.google.com/gke-tpu-topology.",
	.evidence =
		"https://cloud.google.com/kubernetes-engine/docs/how-to/tpus",
	.check_pod = check,
};
