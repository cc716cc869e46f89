/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports Ray clusters whose dashboard is reachable from outside. KubeRay
 * creates the Service and the Ingress of the head from the fields of its group;
 * a Service in the files may also expose it. The type of headService overrides
 * serviceType, and the Ingress gets the annotations of the object (service.go
 * setServiceTypeForUserProvidedService, ingress.go).
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/lifecycle/lifecycle.h"

/* True if the dashboard is not started, or listens only on the loopback address
 * of the head; KubeRay's default is 0.0.0.0. */
static bool keeps_dashboard(const struct node *group)
{
	const struct node *params = node_get(group, "rayStartParams");
	const char *on = node_str(node_get(params, "include-dashboard"));
	const char *host = node_str(node_get(params, "dashboard-host"));

	return (on && !strcasecmp(on, "false")) || text_eq(host, "127.0.0.1") ||
	       text_eq(host, "localhost");
}

/* True if a token is required, by KubeRay's field or by the variable that it
 * sets. */
static bool asks_for_token(const struct pod *pod, const struct node *spec)
{
	if (node_eq(node_path(spec, "authOptions.mode"), "token"))
		return true;
	FOR_EACH_CONTAINER(pod, c) {
		const struct node *mode = container_env(c, "RAY_AUTH_MODE");

		if (mode && !node_eq(node_get(mode, "value"), "disabled"))
			return true;
	}
	return false;
}

/* True if the pod is a head whose dashboard others may reach without a token
 * (Ray 2.52 and later can require one). */
static bool is_open(const struct pod *pod)
{
	/* The head group is a field of the cluster's spec. */
	const struct node *spec = pod->group ? pod->group->parent : NULL;

	return text_eq(pod->object->group, "ray.io") &&
	       text_eq(pod->role, "Head") && !keeps_dashboard(pod->group) &&
	       !asks_for_token(pod, spec);
}

static bool has_port(const struct node *ports, const char *key, int64_t port)
{
	int64_t n;

	FOR_EACH_CHILD(ports, item)
		if (node_int(node_get(item, key), &n) && n == port)
			return true;
	return false;
}

/* True if the dashboard's port is one of the ports of headService or of the
 * first container, or if that has none, so that KubeRay uses its default ports
 * (common/service.go). */
static bool ray_serves_dashboard(const struct pod *pod)
{
	const struct node *params = node_get(pod->group, "rayStartParams");
	const char *given = node_str(node_get(params, "dashboard-port"));
	int64_t port = given ? strtol(given, NULL, 10) : 8265;

	if (has_port(node_path(pod->group, "headService.spec.ports"), "port",
		     port))
		return true;
	FOR_EACH_CONTAINER(pod, c)
		if (c->role == CONTAINER_MAIN && !c->index) {
			const struct node *ports = node_get(c->node, "ports");

			return node_is_unset(ports) ||
			       has_port(ports, "containerPort", port);
		}
	return true;
}

/*
 * True for annotations that make an Ingress authenticate: nginx' auth-url,
 * ALB's auth-type, Traefik's middlewares.
 */
static bool may_authenticate(const struct object *object)
{
	FOR_EACH_CHILD(object->annotations, value)
		if (value->key && (strstr(value->key, "/auth") ||
				   strstr(value->key, "middlewares")))
			return true;
	return false;
}

static const struct node *exposed(const struct object *object,
				  const struct node *head)
{
	const struct node *type = node_path(head, "headService.spec.type");
	const struct node *ingress = node_get(head, "enableIngress");

	if (node_is_unset(type))
		type = node_get(head, "serviceType");
	if (node_eq(type, "LoadBalancer") || node_eq(type, "NodePort"))
		return type;
	return node_is_true(ingress) && !may_authenticate(object) ? ingress
								  : NULL;
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct node *at = exposed(pod->object, pod->group);

	if (!at || !is_open(pod) || !ray_serves_dashboard(pod) ||
	    !object_gpu_pod(pod->object))
		return;
	report_pod(
		run, pod, at,
		"`%s: %s` exposes the dashboard, which runs jobs for anyone who can reach it",
		at->key, node_is_true(at) ? "true" : node_str(at));
}

/* Checks Services in the files that select the head. */
static void check_workload(struct rule_run *run, const struct workload *w,
			   size_t i)
{
	const struct object_index *set = rule_index(run);

	for (size_t s = 0; s < set->nservices; s++) {
		const struct kube_service *service = &set->services[s];
		const struct pod *pod =
			service->exposes_dashboard &&
					service_is_beside(set, service, w) &&
					service_selects(service, &w->pods[i])
				? rule_pod(run, w, i)
				: NULL;

		if (pod && is_open(pod))
			report_place(
				run, &service->id, &service->place,
				"the Service exposes the dashboard of %s, which runs jobs for anyone who can reach it",
				rule_title(run, w->id.kind, w->id.name));
	}
}

static void check_set(struct rule_run *run)
{
	if (!rule_index(run)->nservices)
		return;
	FOR_EACH_WORKLOAD(rule_index(run), w)
		for (size_t i = 0; i < w->npods; i++)
			if (!w->child && !w->duplicate_of)
				check_workload(run, w, i);
}

const struct rule rule_ray_dashboard_exposed = {
	.name = "ray-dashboard-exposed",
	.category = "security",
	.severity = SEVERITY_WARNING,
	.needs = NEEDS_SET,
	.flags = RULE_PREVIEW,
	.summary = "the dashboard of a Ray cluster is reachable from outside",
	.why = "Anyone who can reach the dashboard can submit jobs without a password and use the cluster's GPUs and secrets.",
	.remedy =
		"Keep the head's Service inside the cluster (ClusterIP), and access the dashboard through kubectl port-forward or an authenticating proxy.",
	.evidence =
		"https://docs.ray.io/en/latest/ray-security/index.html; https://nvd.nist.gov/vuln/detail/CVE-2023-48022",
	.check_pod = check,
	.check_set = check_set,
};
