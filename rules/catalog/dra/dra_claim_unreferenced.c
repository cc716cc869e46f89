/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports claims of a pod whose devices no container uses.
 * pod.spec.resourceClaims allocates devices; a container gets only those in its
 * resources.claims. A network driver (DRANET) gives its devices to the pod as a
 * whole. If only the name of a claim is known, it may be for such a driver, so
 * the finding is a warning.
 */
#include "engine/rule.h"
#include "kube/claim.h"

/* True if the claim itself, not only its name, shows whether it is for
 * GPUs. */
static bool claim_is_known(const struct pod *pod, const struct node *entry)
{
	const struct claim *claim = claim_of(pod, entry);

	return claim && claim->gpu != TRI_UNKNOWN;
}

static bool is_used(const struct pod *pod, const char *name)
{
	FOR_EACH_CONTAINER(pod, c)
		if (resources_claim(c->resources, name) != TRI_NO)
			return true;
	return resources_claim(node_get(pod->spec, "resources"), name) !=
	       TRI_NO;
}

static void report(struct rule_run *run, const struct pod *pod,
		   const struct node *entry)
{
	const struct node *name = node_get(entry, "name");
	struct finding *f;

	if (claim_is_known(pod, entry)) {
		report_pod(
			run, pod, name,
			"claim `%s` allocates devices that no container uses",
			node_str(name));
		return;
	}
	f = report_pod(
		run, pod, name,
		"no container uses claim `%s`: if it requests accelerators, they are allocated but idle",
		node_str(name));
	finding_severity(f, SEVERITY_WARNING);
	finding_guess(run, f);
}

static void check(struct rule_run *run, const struct pod *pod)
{
	FOR_EACH_CHILD(pod_field(pod, "resourceClaims"), entry) {
		const char *name = node_str(node_get(entry, "name"));
		struct amount devices;

		if (name && claim_use(pod, entry, &devices) == TRI_YES &&
		    !is_used(pod, name))
			report(run, pod, entry);
	}
}

const struct rule rule_dra_claim_unreferenced = {
	.name = "dra-claim-unreferenced",
	.category = "dra",
	.severity = SEVERITY_ERROR,
	.flags = RULE_ABSENCE,
	.scope = PODSPEC,
	.summary = "no container uses the devices of a claim",
	.why = "The devices are allocated to the pod, but no container can use them.",
	.remedy =
		"Name the claim in resources.claims of the container that uses the devices.",
	.evidence =
		"https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/",
	.check_pod = check,
};
