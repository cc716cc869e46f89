/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports Services whose name makes Kubernetes set an environment variable that
 * the pod's server reads. If the files contain such a Service, the finding is
 * certain; otherwise it assumes that a Service has the name of its workload.
 */
#include "base/text.h"
#include "engine/rule.h"
#include "kube/command/parallel.h"

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct node *links = pod_field(pod, "enableServiceLinks");
	const struct object *object = pod->object;
	struct finding *f;

	if (object->parent || !text_eq(object->name, "vllm") ||
	    object_kind_has(object, KIND_HEADLESS) || !pod_reads_vllm_port(pod))
		return;
	f = report_pod(run, pod, links ? links : pod->spec,
		       "if a Service is also named `vllm`, it sets VLLM_PORT "
		       "to a URL, and vLLM exits");
	finding_severity(f, SEVERITY_INFO);
	fix_set(finding_fix(run, f, true, "set `enableServiceLinks: false`"),
		pod->spec, "enableServiceLinks",
		edit_bool(rule_arena(run), false));
}

static bool is_reader(const struct workload *w)
{
	for (size_t i = 0; i < w->npods; i++)
		if (w->pods[i].reads_vllm_port)
			return true;
	return false;
}

/* Reports the Service, once for each workload that reads its variable. */
static void check_workload(struct rule_run *run, const struct workload *w)
{
	const struct object_index *set = rule_index(run);

	for (size_t i = 0; i < set->nservices; i++) {
		const struct kube_service *service = &set->services[i];

		if (service->has_address && text_eq(service->id.name, "vllm") &&
		    service_is_beside(set, service, w))
			report_place(run, &service->id, &service->place,
				     "Service `vllm` sets VLLM_PORT to a URL "
				     "in the pods of %s, and vLLM exits",
				     rule_title(run, w->id.kind, w->id.name));
	}
}

static void check_set(struct rule_run *run)
{
	struct workload_cursor cursor = {0};
	const struct workload *w;

	if (!rule_index(run)->nservices)
		return;
	while ((w = workload_next(rule_index(run), &cursor)))
		if (!w->child && !w->duplicate_of && is_reader(w))
			check_workload(run, w);
}

const struct rule rule_service_link_env_collision = {
	.name = "service-link-env-collision",
	.category = "env",
	.severity = SEVERITY_WARNING,
	.needs = NEEDS_SET,
	.flags = RULE_SAFE_PATCH,
	.since = "1.0",
	.summary =
		"a Service sets an environment variable that its server reads",
	.why = "For a Service `vllm`, Kubernetes sets VLLM_PORT=tcp://... in all pods of the namespace: the server reads this as its port and exits.",
	.remedy = "Set enableServiceLinks: false, or rename the Service.",
	.evidence =
		"https://github.com/vllm-project/vllm/issues/18209; https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables",
	.check_pod = check,
	.check_set = check_set,
};
