/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports accelerators and network interfaces in requests that are missing in
 * limits. Extended resources cannot be overcommitted, so the API server rejects
 * the object ("Limit must be set for non overcommitable resources"): native
 * kinds at once, pods of custom resources when the operator creates them. A
 * request of 0, or without a value, is rejected as well. On GKE Autopilot, a
 * webhook may set the limit first: Google-Cloud-Containers of huggingface has
 * such examples, made for Autopilot clusters.
 *
 * Source: pkg/apis/core/validation validateResourceRequirements,
 * pkg/apis/core/v1/helper IsOvercommitAllowed.
 */
#include "base/text.h"
#include "engine/rule.h"
#include "kube/purpose/purpose.h"
#include "kube/typed.h"

/* True if the required limit for the request is missing. */
static bool is_alone(const struct container *c,
		     const struct resource_entry *entry)
{
	if ((entry->other && !node_is_unset(entry->other->node)) ||
	    entry->quantity.nano < 0 || node_is_unknown(c->limits) ||
	    (entry->state != QUANTITY_OK && !entry_is_zero(c, entry)))
		return false;
	return entry->accelerator || fabric_resource(entry->node->key);
}

/* True if the pod selects nodes of GKE, which may be an Autopilot cluster. */
static bool may_be_autopilot(const struct pod *pod)
{
	const struct node_label *label = NULL;

	return pod_gpu_selector(pod, &label) && label &&
	       text_eq(label->platform, "gke");
}

static void check_request(struct rule_run *run, const struct container *c,
			  const struct resource_entry *entry)
{
	const struct node *limits = c->limits, *request = entry->node;
	bool autopilot = entry->accelerator && may_be_autopilot(c->pod);
	struct finding *f;

	if (!is_alone(c, entry))
		return;
	f = report_container(
		run, c, request,
		"container `%s` requests %s `%s` without a limit%s",
		container_title(c), node_is_unset(request) ? "0" : request->str,
		request->key,
		autopilot
			? ": if GKE Autopilot does not set it, the API server rejects the pod"
			: "");
	if (autopilot) {
		finding_severity(f, SEVERITY_WARNING);
		finding_guess(run, f);
	}
	finding_cause(run, f, request->key);
	if (!entry->quantity.nano)
		finding_help(run, f, "Remove `%s`.", request->key);
	else
		finding_help(run, f, "Add `%s: %s` to `resources.limits`.",
			     request->key, request->str);
	if (node_is_map(limits))
		finding_label(run, f, limits, "the limits lack it");
	if (c->pod->flat || !quantity_is_integer(entry->quantity) ||
	    !entry->quantity.nano)
		return;
	fix_set_key(finding_fix(run, f, true, "set the limit of `%s` to %s",
				request->key, request->str),
		    c->resources, "limits", request->key,
		    edit_copy(rule_arena(run), request));
}

static void check(struct rule_run *run, const struct pod *pod)
{
	FOR_EACH_CONTAINER(pod, c)
		FOR_EACH_REQUEST(c, request)
			check_request(run, c, request);
}

const struct rule rule_gpu_request_without_limit = {
	.name = "gpu-request-without-limit",
	.category = "resources",
	.severity = SEVERITY_ERROR,
	.flags = RULE_ABSENCE | RULE_INFRASTRUCTURE | RULE_SAFE_PATCH,
	.summary =
		"an accelerator or a network interface is requested without a limit",
	.why = "The API server rejects such Pods. Custom resources are accepted, but their pods are never created. GKE Autopilot may set the limit, so it is only a warning for pods that select nodes of GKE.",
	.remedy =
		"Set limits to the same number; requests may then be left out.",
	.evidence =
		"https://github.com/kubernetes/kubernetes/tree/master/pkg/apis/core/validation validateResourceRequirements; observed on kube-apiserver 1.37.2",
	.check_pod = check,
};
