/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports pods that name a Service of the input as their own (`serviceName` of
 * a StatefulSet, `subdomain` of a pod) although its selector selects none of
 * them. DNS has the name POD.SERVICE only for endpoints of the Service
 * (kubernetes pkg/controller/statefulset, pkg/controller/endpointslice
 * ShouldSetHostname, v1.36.1). A Service without a selector has endpoints of
 * another origin. Also reports Services that select the pods of a Kubeflow job
 * by a label of former operators: the training-operator sets
 * training.kubeflow.org/job-name (v1.3.0 to v1.9.3,
 * pkg/apis/kubeflow.org/v1/common_types.go).
 */
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"

static const struct pod_label *find_label(const struct workload_pod *pod,
					  const char *key)
{
	for (size_t i = 0; i < pod->nlabels; i++)
		if (!strcmp(pod->labels[i].key, key))
			return &pod->labels[i];
	return NULL;
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

/* Returns the entry of the selector with a former operator's label for the name
 * of a job, or NULL. */
static const struct pod_label *former_label(const struct kube_service *service)
{
	static const char *const keys[] = {"pytorch-job-name", "tf-job-name",
					   "tf_job_name",      "mpi-job-name",
					   "mpi_job_name",     NULL};

	for (size_t i = 0; i < service->nselector; i++)
		if (text_any(service->selector[i].key, keys, text_eq))
			return &service->selector[i];
	return NULL;
}

/* True for a Kubeflow job beside the Service that the label names, although no
 * pod of it has the label. */
static bool lacks_label(const struct object_index *set,
			const struct kube_service *service,
			const struct workload *job,
			const struct pod_label *label)
{
	if (job->class != KIND_TRAINING || job->child ||
	    !text_starts(job->id.api_version, "kubeflow.org/") ||
	    !text_eq(label->value, job->id.name) ||
	    !service_is_beside(set, service, job))
		return false;
	for (size_t i = 0; i < job->npods; i++)
		if (find_label(&job->pods[i], label->key))
			return false;
	return true;
}

/* Checks all Services at once, because the findings of check() are in the file
 * of the workload. */
static void check_services(struct rule_run *run)
{
	const struct object_index *set = rule_index(run);

	for (size_t i = 0; i < set->nservices; i++) {
		const struct kube_service *service = &set->services[i];
		const struct pod_label *label = former_label(service);

		FOR_EACH_WORKLOAD(set, job)
			if (label && lacks_label(set, service, job, label))
				report_place(
					run, &service->id,
					&service->selector_place,
					"Service `%s` selects pods by `%s`, a label that the training-operator does not set: it selects no pod of %s",
					service->id.name, label->key,
					rule_title(run, job->id.kind,
						   job->id.name));
	}
}

static void check(struct rule_run *run, const struct workload *w)
{
	bool names_service = w->subdomain || text_eq(w->id.kind, "StatefulSet");
	const struct object *object =
		rule_index(run)->nservices && !w->child && names_service
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
		    service_may_select(service, w->pods))
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
	.summary =
		"pods whose own Service does not select them, or whose Service selects them by a label of a former operator",
	.why = "Names such as trainer-0.trainer do not resolve, so that ranks wait for each other, and clients reach no pod.",
	.remedy = "Use labels of the pod template in the Service's selector.",
	.evidence =
		"https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#stable-network-id",
	.check_workload = check,
	.check_set = check_services,
};
