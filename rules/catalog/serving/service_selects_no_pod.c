/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports pods that name a Service of the input as their own (`serviceName` of
 * a StatefulSet, `subdomain` of a pod) although its selector selects none of
 * them. DNS has the name POD.SERVICE only for endpoints of the Service
 * (kubernetes pkg/controller/statefulset, pkg/controller/endpointslice
 * ShouldSetHostname, v1.36.1). A Service without a selector has endpoints of
 * another origin.
 */
#include "base/text.h"
#include "engine/rule.h"

/* True for labels that a controller gives each pod. */
static bool is_of_controller(const char *key)
{
	return text_starts(key, "statefulset.kubernetes.io/") ||
	       text_starts(key, "apps.kubernetes.io/") ||
	       text_ends(key, "-hash");
}

/* True if the Service selects the pods, or may select them because a label of
 * either is unknown. */
static bool may_select(const struct kube_service *service,
		       const struct workload_pod *pod)
{
	for (size_t i = 0; i < service->nselector; i++)
		if (!service->selector[i].value ||
		    is_of_controller(service->selector[i].key))
			return true;
	for (size_t i = 0; i < pod->nlabels; i++)
		if (!pod->labels[i].value)
			return true;
	return pod->more_labels != LABELS_NO_MORE ||
	       service_selects(service, pod);
}

/* Returns the Service of this name beside the workload; NULL if there is none,
 * or more than one. */
static const struct kube_service *
find_service(struct rule_run *run, const struct workload *w, const char *name)
{
	const struct object_index *set = rule_index(run);
	const struct kube_service *found = NULL;

	for (size_t i = 0; i < set->nservices; i++) {
		const struct kube_service *service = &set->services[i];

		if (service->pool || !text_eq(service->id.name, name) ||
		    !service_is_beside(set, service, w))
			continue;
		if (found)
			return NULL;
		found = service;
	}
	return found;
}

static const struct node *own_service(const struct pod *pod)
{
	const struct node *at =
		object_is(pod->object, "apps", "StatefulSet")
			? node_path(pod->object->root, "spec.serviceName")
			: pod_field(pod, "subdomain");

	return node_str(at) ? at : NULL;
}

static void check(struct rule_run *run, const struct workload *w)
{
	const struct object *object = rule_index(run)->nservices && !w->child
					      ? rule_object(run, w)
					      : NULL;

	if (!object || !object_kind_has(object, KIND_NATIVE) ||
	    object->npods != 1 || w->npods != 1 || object->fragment)
		return;
	FOR_EACH_POD(object, pod) {
		const struct node *at = own_service(pod);
		const struct kube_service *service =
			at ? find_service(run, w, at->str) : NULL;
		struct finding *f;

		if (!service || !service->nselector ||
		    may_select(service, w->pods))
			continue;
		f = report_pod(
			run, pod, at,
			"Service `%s` selects none of these pods: they have no DNS names, and get no requests from it",
			at->str);
		finding_label_place(run, f, &service->selector_place,
				    "its selector");
	}
}

const struct rule rule_service_selects_no_pod = {
	.name = "service-selects-no-pod",
	.category = "serving",
	.severity = SEVERITY_WARNING,
	.needs = NEEDS_SET,
	.scope = GPU_PODS | PODSPEC,
	.since = "1.0",
	.summary = "pods whose own Service does not select them",
	.why = "Names such as trainer-0.trainer do not resolve, so that ranks wait for each other, and clients reach no pod.",
	.remedy = "Use labels of the pod template in the Service's selector.",
	.evidence =
		"https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#stable-network-id",
	.check_workload = check,
};
