/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports device requests in the form of another API version. In v1beta1 a
 * request's fields are in the request itself, in v1beta2 and v1 in `exactly`.
 * If only the version is changed, the request is empty: the API server drops
 * the fields and then rejects it. A request that is empty as written is
 * reported as well.
 *
 * Source: pkg/apis/resource/validation validateDeviceRequest ("exactly one of
 * `exactly` or `firstAvailable` is required"); observed on kube-apiserver
 * 1.37.2, in all three versions.
 */
#include "base/text.h"
#include "engine/rule.h"
#include "kube/claim.h"
#include "kube/object.h"

static void report(struct rule_run *run, const struct object *object,
		   const struct node *request, bool flat)
{
	const struct node *stray =
		node_get(request, flat ? "exactly" : "deviceClassName");
	struct finding *f = report_object(
		run, object, stray ? stray : request,
		"a request has neither `%s` nor `firstAvailable`: the API server rejects it",
		flat ? "deviceClassName" : "exactly");

	if (!stray)
		return;
	finding_at_key(run, f, stray);
	finding_help(
		run, f,
		flat ? "Move the fields of `exactly` into the request: v1beta1 has no `exactly`."
		     : "Move all fields of the request except its name into `exactly`.");
}

static void check(struct rule_run *run, const struct object *object)
{
	bool flat = text_eq(object->version, "v1beta1");

	if (object->npods || (!flat && !text_eq(object->version, "v1beta2") &&
			      !text_eq(object->version, "v1")))
		return;
	FOR_EACH_CHILD(claim_requests(object), request) {
		const struct node *wanted =
			node_get(request, flat ? "deviceClassName" : "exactly");

		if (node_is_map(request) && node_is_unset(wanted) &&
		    node_is_unset(node_get(request, "firstAvailable")))
			report(run, object, request, flat);
	}
}

const struct rule rule_dra_request_invalid = {
	.name = "dra-request-invalid",
	.category = "dra",
	.severity = SEVERITY_ERROR,
	.flags = RULE_ABSENCE,
	.summary =
		"a device request that is empty, or in the form of another API version",
	.why = "The API server drops fields that the apiVersion does not have, and rejects a request that is then empty. Pods that name the claim stay Pending.",
	.remedy =
		"Put deviceClassName and the other fields of the request under `exactly` in v1 and v1beta2, and in the request itself in v1beta1.",
	.evidence =
		"https://github.com/kubernetes/kubernetes/tree/master/pkg/apis/resource/validation; https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/; observed on kube-apiserver 1.37.2",
	.check_object = check,
};
