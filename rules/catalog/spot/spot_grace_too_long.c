/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports grace periods that are longer than the notice that the provider of a
 * spot node gives. 30 seconds are skipped: the API server sets this default
 * before a webhook gets the object, so the author may not have chosen it.
 */
#include <string.h>

#include "base/array.h"
#include "engine/rule.h"
#include "kube/scheduling/affinity.h"

enum { DEFAULT_GRACE = 30 };

/* Longest time that pods have from the notice to the end of the node. On GKE,
 * the kubelet reserves 15 of the 30 seconds for critical pods (since
 * 1.22.8-gke.200); pools of spot nodes may extend it (since
 * 1.35.0-gke.1171000). */
static const struct {
	const char *key;
	int64_t seconds;
	const char *provider, *unless;
} notices[] = {
	{"cloud.google.com/gke-spot", 15, "GKE",
	 ", unless the node pool sets a longer time"},
	{"cloud.google.com/gke-preemptible", 15, "GKE", ""},
	{"cloud.google.com/gke-provisioning", 15, "GKE",
	 ", unless the node pool sets a longer time"},
	{"eks.amazonaws.com/capacityType", 120, "AWS",
	 ", unless a rebalance recommendation comes first"},
	{"kubernetes.azure.com/scalesetpriority", 30, "Azure", ""},
};

/* Returns the label in a selector or an affinity that requires spot nodes. */
static const char *label_of(const struct node *spot)
{
	const struct node *expression;

	if (spot->key)
		return spot->key;
	expression = spot->parent ? spot->parent->parent : NULL;
	return node_str(node_get(expression, "key"));
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct node *at = pod_field(pod, "terminationGracePeriodSeconds");
	const struct node *spot;
	const char *label;
	struct finding *f;
	int64_t seconds;

	if (!node_int(at, &seconds) || seconds == DEFAULT_GRACE)
		return;
	spot = pod_spot(pod);
	label = spot ? label_of(spot) : NULL;
	if (!label)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(notices); i++) {
		if (strcmp(label, notices[i].key) != 0 ||
		    seconds <= notices[i].seconds)
			continue;
		f = report_pod(
			run, pod, at,
			"%s gives pods at most %s s when it reclaims a spot node%s: the grace period of %s s is not granted",
			notices[i].provider,
			rule_number(run, notices[i].seconds), notices[i].unless,
			rule_number(run, seconds));
		finding_label(run, f, spot, "on spot nodes");
	}
}

const struct rule rule_spot_grace_too_long = {
	.name = "spot-grace-too-long",
	.category = "spot",
	.severity = SEVERITY_WARNING,
	.scope = GPU_PODS,
	.summary =
		"a grace period longer than the spot node's termination notice",
	.why = "The node is gone before the period ends: data that the pod has not written yet is lost.",
	.remedy =
		"Write checkpoints during the run, and stop within the notice.",
	.evidence =
		"https://cloud.google.com/kubernetes-engine/docs/concepts/spot-vms; https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-interruptions.html; https://learn.microsoft.com/azure/aks/spot-node-pool",
	.check_pod = check,
};
