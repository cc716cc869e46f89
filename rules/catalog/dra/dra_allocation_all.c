/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports claims that request every matching accelerator of a node. A monitor
 * with adminAccess allocates nothing. Only classes that are known to select
 * accelerators are checked: DRANET's examples request all network interfaces
 * together with the GPUs of a pod.
 */
#include "engine/rule.h"
#include "kube/claim.h"
#include "kube/object.h"

/* Returns the mode of a request for every matching accelerator of a node, or
 * NULL. */
static const struct node *mode_all(const struct object *object,
				   const struct node *request)
{
	const struct node *mode = node_get(request, "allocationMode");
	const char *class = node_str(node_get(request, "deviceClassName"));

	return node_eq(mode, "All") &&
			       !node_is_true(
				       node_get(request, "adminAccess")) &&
			       claim_class_use(object->claims, class) == TRI_YES
		       ? mode
		       : NULL;
}

static void check_request(struct rule_run *run, const struct object *object,
			  const struct node *request)
{
	const struct node *exactly = node_get(request, "exactly");
	const struct node *mode =
		mode_all(object, node_is_unset(exactly) ? request : exactly);

	if (mode)
		report_object(
			run, object, mode,
			"`allocationMode: All` allocates every matching device of a node");
	FOR_EACH_CHILD(node_get(request, "firstAvailable"), one) {
		mode = mode_all(object, one);
		if (mode)
			report_object(
				run, object, mode,
				"if this alternative is chosen, `allocationMode: All` allocates every matching device of a node");
	}
}

static void check(struct rule_run *run, const struct object *object)
{
	FOR_EACH_CHILD(claim_requests(object), request)
		check_request(run, object, request);
}

const struct rule rule_dra_allocation_all = {
	.name = "dra-allocation-all",
	.category = "dra",
	.severity = SEVERITY_INFO,
	.flags = RULE_PREVIEW,
	.summary = "a claim that requests every matching device of a node",
	.why = "The pod waits until every matching device of one node is free, and then holds all of them.",
	.remedy =
		"Set allocationMode: ExactCount and the count that the pod needs.",
	.evidence =
		"https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/",
	.check_object = check,
};
