/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports Services named `vllm` next to pods that run vLLM: Kubernetes sets the
 * variable VLLM_PORT in the pods, and vLLM reads it. A workload named `vllm` is
 * an info, because its Service usually has the same name.
 */
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/command/command.h"
#include "kube/command/env.h"
#include "kube/command/parallel.h"

/* True for an image whose name begins with `vllm`, with its own entrypoint. */
static bool is_vllm_image(const struct container *c)
{
	const char *slash = c->image ? strrchr(c->image, '/') : NULL;
	const char *name = slash ? slash + 1 : c->image;

	return text_starts(text_or_empty(name), "vllm") &&
	       !strstr(name, "router") && !container_command_node(c);
}

/* True if a main container of the pod runs vLLM without setting VLLM_PORT, and
 * Kubernetes sets variables for Services in the container. Sets *guess if only
 * the name of the image shows it. */
static bool reads_vllm_port(const struct pod *pod, bool *guess)
{
	const struct node *links = pod_field(pod, "enableServiceLinks");

	*guess = false;
	if (pod->flat || (!node_is_unset(links) && !node_is_true(links)))
		return false;
	FOR_EACH_CONTAINER(pod, c) {
		struct parallel_list list;

		if (c->role != CONTAINER_MAIN || container_env(c, "VLLM_PORT"))
			continue;
		list = container_parallel(c);
		for (size_t i = 0; i < list.n; i++)
			/* A script that mentions the variable may unset it. */
			if (!strcmp(list.items[i].program, "vLLM"))
				return !container_says(c, "VLLM_PORT");
		*guess = !list.n && is_vllm_image(c);
		if (*guess)
			return true;
	}
	return false;
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct node *links = pod_field(pod, "enableServiceLinks");
	const struct object *object = pod->object;
	struct finding *f;
	bool guess;

	if (object->parent || !text_eq(object->name, "vllm") ||
	    object_kind_has(object, KIND_HEADLESS) ||
	    !reads_vllm_port(pod, &guess) || guess)
		return;
	f = report_pod(run, pod, links ? links : pod->spec,
		       "if a Service of the namespace is also named `vllm`, "
		       "Kubernetes sets VLLM_PORT to a URL, and vLLM exits");
	finding_severity(f, SEVERITY_INFO);
	fix_set(finding_fix(run, f, true, "set `enableServiceLinks: false`"),
		pod->spec, "enableServiceLinks",
		edit_bool(rule_arena(run), false));
}

static bool is_reader(const struct object *object, bool *guess)
{
	if (object)
		FOR_EACH_POD(object, pod)
			if (reads_vllm_port(pod, guess))
				return true;
	return false;
}

/* Reports the Service, once for each workload that reads its variable. */
static void check_service(struct rule_run *run,
			  const struct kube_service *service)
{
	const struct object_index *set = rule_index(run);

	FOR_EACH_WORKLOAD(set, w) {
		struct finding *f;
		bool guess;

		if (w->child || w->duplicate_of ||
		    !service_is_beside(set, service, w) ||
		    !is_reader(rule_object(run, w), &guess))
			continue;
		f = report_place(
			run, &service->id, &service->place,
			"because of Service `vllm`, Kubernetes sets VLLM_PORT to a URL in the pods of %s%s",
			rule_title(run, w->id.kind, w->id.name),
			guess ? ": if they run vLLM, it exits"
			      : ", and vLLM exits");
		if (guess)
			finding_severity(f, SEVERITY_INFO);
	}
}

static void check_set(struct rule_run *run)
{
	const struct object_index *set = rule_index(run);

	for (size_t i = 0; i < set->nservices; i++)
		if (set->services[i].has_address &&
		    text_eq(set->services[i].id.name, "vllm"))
			check_service(run, &set->services[i]);
}

const struct rule rule_service_link_env_collision = {
	.name = "service-link-env-collision",
	.category = "env",
	.severity = SEVERITY_WARNING,
	.needs = NEEDS_SET,
	.flags = RULE_SAFE_PATCH,
	.summary =
		"a Service named `vllm` sets VLLM_PORT, which vLLM reads as its port",
	.why = "For a Service named `vllm`, Kubernetes sets VLLM_PORT to a URL in all pods of the namespace. vLLM reads the URL as its port and exits. A workload named `vllm` is an info, because its Service usually has the same name.",
	.remedy = "Set enableServiceLinks: false, or rename the Service.",
	.evidence =
		"https://github.com/vllm-project/vllm/issues/18209; https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables",
	.check_pod = check,
	.check_set = check_set,
};
