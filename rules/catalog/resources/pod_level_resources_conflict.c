/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports containers that together request more than their pod, and main
 * containers whose limit is above the pod's. If the pod's request is not set,
 * it is the sum of the containers' requests, which may not exceed the pod's
 * limit.
 *
 * Source: pkg/apis/core/validation validatePodResourceConsistency,
 * pkg/apis/core/v1/defaults.go defaultPodRequests.
 */
#include <string.h>

#include "engine/rule.h"

/* Reports main containers whose limit is above the pod's. The API server does
 * not compare limits of init containers. Returns true if it reports one. */
static bool check_limits(struct rule_run *run, const struct pod *pod,
			 const struct node *limit)
{
	struct quantity whole, own;
	bool found = false;

	if (node_quantity(limit, &whole) != QUANTITY_OK)
		return false;
	FOR_EACH_CONTAINER(pod, c) {
		const struct node *at = node_get(c->limits, limit->key);
		struct finding *f;

		if (c->role != CONTAINER_MAIN ||
		    container_limit(c, limit->key, &own) != QUANTITY_OK ||
		    quantity_cmp(own, whole) <= 0)
			continue;
		f = report_container(run, c, at,
				     "container `%s` has a `%s` limit of %s, "
				     "above the pod's own limit of %s: the API "
				     "server rejects the pod",
				     container_title(c), limit->key, at->str,
				     limit->str);
		finding_label(run, f, limit, "the pod's limit");
		finding_cause(run, f, limit->key);
		found = true;
	}
	return found;
}

/* Returns the sum of the containers' requests without the pod's overhead, as
 * the API server compares it with the pod's own request. */
static struct quantity sum_of_containers(const struct pod *pod,
					 const char *resource, bool *unknown)
{
	struct request_sum all = {0};

	FOR_EACH_CONTAINER(pod, c)
		request_add(&all, c, resource, false);
	*unknown = all.unknown || pod->cut || node_is_unknown(pod->spec);
	return quantity_cmp(all.floor, all.sum) > 0 ? all.floor : all.sum;
}

/* Compares the containers' requests with the pod's request or, if that is
 * unset, its limit. */
static void check_requests(struct rule_run *run, const struct pod *pod,
			   const struct node *at)
{
	struct quantity whole, sum;
	char text[QUANTITY_TEXT];
	bool unknown;
	struct finding *f;

	if (node_quantity(at, &whole) != QUANTITY_OK)
		return;
	sum = sum_of_containers(pod, at->key, &unknown);
	if (quantity_cmp(sum, whole) <= 0)
		return;
	f = report_pod(
		run, pod, at,
		"the containers request %s%s `%s`, but the pod itself has "
		"%s: the API server rejects the pod",
		unknown ? "at least " : "", quantity_text(sum, text), at->key,
		at->str);
	finding_cause(run, f, at->key);
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct node *resources = node_get(pod->spec, "resources");
	const struct node *requests = node_get(resources, "requests");

	if (!node_is_map(resources) ||
	    !node_is_seq(node_get(pod->spec, "containers")))
		return;
	FOR_EACH_CHILD(node_get(resources, "limits"), limit)
		if (!strchr(limit->key, '/') &&
		    !check_limits(run, pod, limit) &&
		    node_is_unset(node_get(requests, limit->key)))
			check_requests(run, pod, limit);
	FOR_EACH_CHILD(requests, request)
		if (!strchr(request->key, '/'))
			check_requests(run, pod, request);
}

const struct rule rule_pod_level_resources_conflict = {
	.name = "pod-level-resources-conflict",
	.category = "resources",
	.severity = SEVERITY_ERROR,
	.scope = PODSPEC,
	.summary =
		"containers request more than their pod, or one has a limit above the pod's",
	.why = "The API server rejects a pod whose own resources are below a container's limit, or below the sum of the containers' requests. If a container has no request, its limit counts as its request.",
	.remedy =
		"Raise the pod's own resources, or lower the values of the containers.",
	.evidence =
		"https://github.com/kubernetes/kubernetes/blob/v1.37.2/pkg/apis/core/validation/validation.go validatePodResourceConsistency; https://github.com/kubernetes/enhancements/tree/master/keps/sig-node/2837-pod-level-resource-spec; observed on kube-apiserver 1.37.2",
	.check_pod = check,
};
