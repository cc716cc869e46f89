/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod.spec.resourceClaims allocates; containers get what resources.claims
 * names.
 */
#include "engine/rule.h"
#include "kube/claim.h"

static bool is_used(const struct pod *pod, const char *name)
{
	FOR_EACH_CONTAINER(pod, c)
		if (resources_claim(c->resources, name) != TRI_NO)
			return true;
	return resources_claim(node_get(pod->spec, "resources"), name) !=
	       TRI_NO;
}

static void check(struct rule_run *run, const struct pod *pod)
{
	if (pod->flat)
		return;
	FOR_EACH_CHILD(pod_field(pod, "resourceClaims"), entry) {
		const char *name = node_str(node_get(entry, "name"));
		struct amount devices;

		if (name && claim_use(pod, entry, &devices) == TRI_YES &&
		    !is_used(pod, name))
			report_pod(run, pod, node_get(entry, "name"),
				   "claim `%s` takes devices that no container "
				   "uses",
				   name);
	}
}

const struct rule rule_dra_claim_unreferenced = {
	.name = "dra-claim-unreferenced",
	.category = "dra",
	.severity = SEVERITY_ERROR,
	.flags = RULE_ABSENCE,
	.wants = FACT_PODSPEC | FACT_CLAIMS,
	.since = "1.0",
	.summary = "a claim for devices that no container uses",
	.why = "The devices are allocated to the pod, but no container can use them.",
	.remedy =
		"Name the claim in resources.claims of the container that uses the devices.",
	.evidence =
		"https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/",
	.check_pod = check,
};
