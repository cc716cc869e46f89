/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports containers that name a request which their claim does not have. The
 * API server does not compare them, and the kubelet gives the container only
 * devices of the named request. Names with a subrequest (`gpu/small`) are left
 * out. Source: kubernetes v1.36 pkg/kubelet/cm/dra/claiminfo.go
 * cdiDevicesAsList; api core/v1 ResourceClaim.request.
 */
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/claim.h"

static bool has_request(const struct claim *claim, const char *name)
{
	for (size_t i = 0; i < claim->nrequests; i++)
		if (!strcmp(claim->requests[i], name))
			return true;
	return false;
}

static const struct claim *find_claim(const struct pod *pod, const char *name)
{
	FOR_EACH_CHILD(pod_field(pod, "resourceClaims"), entry)
		if (name && node_eq(node_get(entry, "name"), name))
			return claim_of(pod, entry);
	return NULL;
}

static void check(struct rule_run *run, const struct pod *pod)
{
	FOR_EACH_CONTAINER(pod, c)
		FOR_EACH_CHILD(node_get(c->resources, "claims"), item) {
			const struct node *request = node_get(item, "request");
			const char *name = node_str(request);
			const struct claim *claim = find_claim(
				pod, node_str(node_get(item, "name")));
			const char *near;
			struct finding *f;

			if (!name || !claim || !claim->requests ||
			    strchr(name, '/') || has_request(claim, name))
				continue;
			f = report_container(
				run, c, request,
				"%s `%s` has no request `%s`, so this entry gives container `%s` no devices",
				claim->template ? "ResourceClaimTemplate"
						: "ResourceClaim",
				claim->name, name, container_title(c));
			near = claim->nrequests == 1
				       ? claim->requests[0]
				       : text_nearest(name, claim->requests,
						      claim->nrequests);
			if (near)
				finding_help(run, f, "did you mean `%s`?",
					     near);
		}
}

const struct rule rule_dra_container_request_unknown = {
	.name = "dra-container-request-unknown",
	.category = "dra",
	.severity = SEVERITY_ERROR,
	.scope = PODSPEC,
	.summary = "a container names a request that its claim does not have",
	.why = "The claim's devices are allocated to the pod, but an entry with an unknown request gives the container none of them, so GPUs may be idle.",
	.remedy =
		"Name a request of the claim, or remove `request`, so that the container gets all devices of the claim.",
	.evidence =
		"https://github.com/kubernetes/kubernetes/blob/v1.36.0/pkg/kubelet/cm/dra/claiminfo.go",
	.check_pod = check,
};
