/* SPDX-License-Identifier: Apache-2.0 */
/*
 * v1beta1 has a request's fields in the request itself; v1beta2 and v1 have
 * them in `exactly`. Who changes no more than the version leaves a request
 * that says nothing: the API server drops the fields and then refuses it.
 *
 * Source: pkg/apis/resource/validation validateDeviceRequest ("exactly one of
 * `exactly` or `firstAvailable` is required"); observed on kube-apiserver
 * 1.36, in all three versions.
 */
#include "base/text.h"
#include "engine/rule.h"
#include "kube/claim.h"
#include "kube/object.h"

/* Where what a request asks for is, by version. */
static const char *wanted_field(const struct object *object)
{
	return text_eq(object->version, "v1beta1") ? "deviceClassName"
						   : "exactly";
}

static void report(struct rule_run *run, const struct object *object,
		   const struct node *request, const char *field)
{
	bool old = text_eq(field, "deviceClassName");
	const struct node *stray =
		node_get(request, old ? "exactly" : "deviceClassName");
	const char *name = node_str(node_get(request, "name"));
	struct finding *f = report_object(
		run, object, stray ? stray : request,
		"request `%s` has neither `%s` nor `firstAvailable`",
		name ? name : "", field);

	if (!stray)
		return;
	finding_at_key(run, f, stray);
	finding_help(run, f,
		     old ? "`exactly` is of v1beta2 and v1: v1beta1 has its "
			   "fields in the request itself"
			 : "put the fields of the request, but for its name, "
			   "into `exactly`");
}

static void check(struct rule_run *run, const struct object *object)
{
	const char *field = wanted_field(object);

	if (!object->version || (!text_eq(object->version, "v1") &&
				 !text_starts(object->version, "v1beta")))
		return;
	FOR_EACH_CHILD(claim_requests(object), request) {
		const struct node *wanted = node_get(request, field);

		if (node_is_map(request) && node_is_unset(wanted) &&
		    node_is_unset(node_get(request, "firstAvailable")))
			report(run, object, request, field);
	}
}

const struct rule rule_dra_request_invalid = {
	.name = "dra-request-invalid",
	.category = "dra",
	.severity = SEVERITY_ERROR,
	.wants = FACT_PODLESS,
	.since = "1.0",
	.summary = "a request for devices in the shape of another API version",
	.why = "The API server drops the fields that it does not know, and then refuses the claim: pods that name it stay Pending.",
	.remedy =
		"In v1 and v1beta2, write what is requested under `exactly`; in v1beta1, in the request itself.",
	.evidence =
		"https://github.com/kubernetes/kubernetes/tree/master/pkg/apis/resource/validation; https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/; observed on kube-apiserver",
	.check_object = check,
};
