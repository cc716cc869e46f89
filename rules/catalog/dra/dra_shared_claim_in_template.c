/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports claims that several pods share. A named claim is one object for all
 * pods that use it. Pods that also have a claim from a template, and claims
 * whose name contains `shared`, are skipped, because the sharing is intended.
 */
#include "base/text.h"
#include "engine/rule.h"
#include "kube/claim.h"

static bool is_meant(const struct pod *pod, const char *claim)
{
	FOR_EACH_CHILD(pod_field(pod, "resourceClaims"), entry)
		if (node_get(entry, "resourceClaimTemplateName"))
			return true;
	return text_contains_ci(claim, "shared");
}

static void check(struct rule_run *run, const struct pod *pod)
{
	if (pod->steady.n < 2)
		return;
	FOR_EACH_CHILD(pod_field(pod, "resourceClaims"), entry) {
		const struct node *at = node_get(entry, "resourceClaimName");
		struct amount devices;

		if (node_str(at) && !is_meant(pod, node_str(at)) &&
		    claim_use(pod, entry, &devices) == TRI_YES)
			report_pod(
				run, pod, at,
				"%s share the devices of claim `%s`: if each pod needs its own, use a claim template, which creates one claim per pod",
				rule_count(run, pod->steady.n, "pod"),
				node_str(at));
	}
}

const struct rule rule_dra_shared_claim_in_template = {
	.name = "dra-shared-claim-in-template",
	.category = "dra",
	.severity = SEVERITY_INFO,
	.flags = RULE_PREVIEW,
	.scope = PODSPEC,
	.summary = "several pods use the same claim",
	.why = "All of the pods use the claim's devices at once and must run where these are, usually on one node.",
	.remedy =
		"Use resourceClaimTemplateName if each pod needs separate devices.",
	.evidence =
		"https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/",
	.check_pod = check,
};
