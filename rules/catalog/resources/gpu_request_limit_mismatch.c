/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports accelerators whose request differs from their limit. The API server
 * requires them to be equal ("must be equal to nvidia.com/gpu limit of 2")
 * because devices cannot be overcommitted; "1" and "1000m" are equal.
 *
 * Source: pkg/apis/core/validation validateResourceRequirements.
 */
#include "engine/rule.h"

static void check_limit(struct rule_run *run, const struct container *c,
			const struct resource_entry *entry)
{
	const struct node *limit = entry->node, *request;
	const struct resource_entry *other = entry->other;
	struct quantity most = entry->quantity;
	struct finding *f;

	if (!entry->accelerator || !other || entry->state != QUANTITY_OK ||
	    other->state != QUANTITY_OK || !quantity_cmp(other->quantity, most))
		return;
	request = other->node;
	f = report_container(
		run, c, request,
		"container `%s` requests %s `%s`, but the limit is %s",
		container_title(c), request->str, limit->key, limit->str);
	finding_cause(run, f, limit->key);
	finding_label(run, f, limit, "the limit");
	finding_help(
		run, f,
		"Make the request equal to the limit, or remove it: it then defaults to the limit.");
	if (c->pod->flat || !quantity_is_integer(most) || most.nano <= 0)
		return;
	fix_set(finding_fix(run, f, false,
			    "set the request to the limit, %s `%s`", limit->str,
			    limit->key),
		request, "", edit_copy(rule_arena(run), limit));
}

static void check(struct rule_run *run, const struct pod *pod)
{
	FOR_EACH_CONTAINER(pod, c)
		FOR_EACH_LIMIT(c, limit)
			check_limit(run, c, limit);
}

const struct rule rule_gpu_request_limit_mismatch = {
	.name = "gpu-request-limit-mismatch",
	.category = "resources",
	.severity = SEVERITY_ERROR,
	.flags = RULE_INFRASTRUCTURE | RULE_OPT_IN_PATCH,
	.summary = "the request and the limit of an accelerator differ",
	.why = "The API server rejects such Pods. Custom resources are accepted, but their pods are never created.",
	.remedy = "Set both to the intended number of devices.",
	.evidence =
		"https://github.com/kubernetes/kubernetes/tree/master/pkg/apis/core/validation validateResourceRequirements; observed on kube-apiserver 1.37.2",
	.check_pod = check,
};
