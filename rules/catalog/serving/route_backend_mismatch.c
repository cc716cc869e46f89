/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports routes of the Gateway API that send to a port that the Service of GPU
 * pods does not have. A route names the Service's own port, not the pods' port.
 * Source: gateway-api v1.4 apis/v1/object_reference_types.go
 * (BackendObjectReference.port); without a backend, the gateway answers
 * requests with 500.
 */
#include "base/text.h"
#include "engine/rule.h"

/* True if the route sends to this Service. */
static bool is_backend(const struct object_index *set,
		       const struct route_backend *route,
		       const struct kube_service *service)
{
	const struct workload at = {
		.id = route->id,
		.place = route->name_place,
		.cluster = route->cluster,
	};

	return !service->pool && service_is_beside(set, service, &at) &&
	       text_eq(service->id.name, route->service);
}

/* True if the Service has the port, or its ports are unknown. */
static bool has_number(const struct kube_service *service, int64_t port)
{
	for (size_t i = 0; i < service->nnumbers; i++)
		if (service->numbers[i] == port)
			return true;
	return !service->numbers || !service->nnumbers;
}

/* True if the Service selects pods of a GPU workload. */
static bool leads_to_gpus(struct rule_run *run,
			  const struct kube_service *service)
{
	FOR_EACH_WORKLOAD(rule_index(run), w)
		for (size_t p = 0; p < w->npods; p++)
			if (service_is_beside(rule_index(run), service, w) &&
			    service_selects(service, &w->pods[p]))
				return true;
	return false;
}

static void check_route(struct rule_run *run, const struct route_backend *route)
{
	const struct object_index *set = rule_index(run);
	const struct kube_service *found = NULL;
	struct finding *f;

	for (size_t i = 0; i < set->nservices; i++) {
		const struct kube_service *service = &set->services[i];

		if (!is_backend(set, route, service))
			continue;
		/* Several files may define variants of one Service. */
		if (found || has_number(service, route->port))
			return;
		found = service;
	}
	if (!found || !leads_to_gpus(run, found))
		return;
	f = report_place(
		run, &route->id, &route->port_place,
		"%s sends to port %s of Service `%s`, which has %s: requests fail",
		rule_title(run, route->id.kind, route->id.name),
		rule_number(run, route->port), route->service,
		found->nnumbers == 1
			? arena_printf(rule_arena(run), "only port %lld",
				       (long long)found->numbers[0])
			: "other ports");
	finding_label_place(run, f, &found->place, "the Service");
}

/* Largest number of routes and of Services. Each route is compared with each
 * Service, so that more would cost too much. */
enum { MOST = 2000 };

static void check(struct rule_run *run)
{
	const struct object_index *set = rule_index(run);

	if (set->nroutes > MOST || set->nservices > MOST) {
		rule_not_run(run, "more than 2,000 routes or Services");
		return;
	}
	for (size_t i = 0; i < set->nroutes; i++)
		check_route(run, &set->routes[i]);
}

const struct rule rule_route_backend_mismatch = {
	.name = "route-backend-mismatch",
	.category = "serving",
	.severity = SEVERITY_WARNING,
	.needs = NEEDS_SET,
	.summary =
		"a route to a port that the Service of a GPU workload does not have",
	.why = "The gateway answers requests with 500, and the pods behind it hold their GPUs without work.",
	.remedy =
		"Use a number of the Service's `ports[].port`, not of `targetPort`.",
	.evidence =
		"https://github.com/kubernetes-sigs/gateway-api/blob/v1.4.0/apis/v1/object_reference_types.go; https://gateway-api.sigs.k8s.io/api-types/httproute/#backendrefs-optional",
	.check_set = check,
};
