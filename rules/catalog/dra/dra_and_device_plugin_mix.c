/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports containers that get NVIDIA devices both from a claim and from the
 * device plugin. The DRA driver and the device plugin do not see each other's
 * allocations. Two containers of a pod may use one way each.
 */
#include "base/text.h"
#include "engine/rule.h"
#include "kube/claim.h"

/* True if a claim of the container is known to be for NVIDIA's devices. */
static bool container_claims_nvidia(const struct container *c)
{
	FOR_EACH_CHILD(pod_field(c->pod, "resourceClaims"), entry) {
		const struct claim *claim = claim_of(c->pod, entry);
		const char *name = node_str(node_get(entry, "name"));

		if (claim && claim->nvidia && name &&
		    resources_claim(c->resources, name) == TRI_YES)
			return true;
	}
	return false;
}

static const struct node *by_plugin(const struct pod *pod,
				    const struct container **which)
{
	FOR_EACH_CONTAINER(pod, c) {
		if (!container_claims_nvidia(c))
			continue;
		FOR_EACH_ASKED(c, entry)
			if (entry->accelerator &&
			    !accelerator_is_claimed(entry->accelerator) &&
			    text_eq(entry->accelerator->vendor, "nvidia") &&
			    accelerator_counts(entry->accelerator) &&
			    entry->quantity.nano > 0) {
				*which = c;
				return entry->node;
			}
	}
	return NULL;
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct container *c = NULL;
	const struct node *at;

	at = by_plugin(pod, &c);
	if (at)
		report_container(
			run, c, at,
			"container `%s` requests `%s` and also claims NVIDIA devices: it gets both",
			container_title(c), at->key);
}

const struct rule rule_dra_and_device_plugin_mix = {
	.name = "dra-and-device-plugin-mix",
	.category = "dra",
	.severity = SEVERITY_WARNING,
	.scope = PODSPEC,
	.summary =
		"a container gets NVIDIA devices both from a claim and from the device plugin",
	.why = "The DRA driver and the device plugin allocate devices independently, so the container gets two sets of devices, usually by mistake.",
	.remedy =
		"Request the devices either through the claim or through a resource of the device plugin (such as nvidia.com/gpu), not both.",
	.evidence = "https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu",
	.check_pod = check,
};
