/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports requests that reach no server: a probe or a Service names a port that
 * the pod does not have, an InferencePool selects no pod or (an info) also pods
 * that declare other ports, or the port number to which a Service or an
 * InferencePool sends differs from the server's. Port numbers are compared only
 * if the pod has one container, and it does not declare the port. Source:
 * kubernetes pkg/probe/util.go and FindPort for named ports;
 * gateway-api-inference-extension, InferencePool targetPorts.
 */
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/command/server.h"

static bool has_port(const struct container *c, const char *name)
{
	const struct node *ports = node_get(c->node, "ports");

	if (node_is_unknown(ports))
		return true;
	FOR_EACH_CHILD(ports, port) {
		const struct node *one = node_get(port, "name");

		if (node_is_unknown(port) || node_is_unknown(one) ||
		    node_eq(one, name))
			return true;
	}
	return false;
}

/* --- probes --------------------------------------------------------------- */

static void check_probe(struct rule_run *run, const struct container *c,
			const char *name)
{
	static const char *const handlers[] = {"httpGet", "tcpSocket"};
	const struct node *probe = node_get(c->node, name);

	for (size_t i = 0; probe && i < 2; i++) {
		const struct node *port =
			node_path(node_get(probe, handlers[i]), "port");
		const char *text = node_str(port);

		/* A string of digits is a port number. */
		if (!text || strspn(text, "0123456789") == strlen(text) ||
		    has_port(c, text))
			continue;
		report_container(
			run, c, port,
			"container `%s` has no port `%s`: %sthe %s always fails",
			container_title(c), text,
			c->pod->object->class == KIND_TEMPLATE
				? "unless an InferenceService adds it, "
				: "",
			name);
	}
}

/* True for kinds whose operators add no ports, and for runtimes of KServe. */
static bool keeps_ports(const struct object *object)
{
	return object_kind_has(object, KIND_NATIVE) ||
	       text_eq(object->group, "jobset.x-k8s.io") ||
	       text_eq(object->group, "leaderworkerset.x-k8s.io") ||
	       text_eq(object->group, "batch.volcano.sh") ||
	       object_is(object, "serving.kserve.io", "ServingRuntime") ||
	       object_is(object, "serving.kserve.io", "ClusterServingRuntime");
}

static void check_pod(struct rule_run *run, const struct pod *pod)
{
	if (!keeps_ports(pod->object))
		return;
	FOR_EACH_CONTAINER(pod, c) {
		check_probe(run, c, "startupProbe");
		check_probe(run, c, "readinessProbe");
		check_probe(run, c, "livenessProbe");
	}
}

/* Each Service is compared with each workload. */
enum { WORKLOADS = 2000 };

static bool is_too_large(struct rule_run *run)
{
	if (rule_index(run)->nworkloads <= WORKLOADS)
		return false;
	rule_not_run(run, "more than 2,000 workloads");
	return true;
}

/* --- Services and InferencePools ------------------------------------------ */

static bool declares(const struct container *c, int64_t number)
{
	FOR_EACH_CHILD(node_get(c->node, "ports"), port) {
		int64_t n;

		if (!node_int(node_get(port, "containerPort"), &n) ||
		    n == number)
			return true;
	}
	return false;
}

static const char *title_of(struct rule_run *run,
			    const struct kube_service *service)
{
	return rule_title(run, service->id.kind, service->id.name);
}

static void check_number(struct rule_run *run, const struct pod *pod,
			 const struct kube_service *service,
			 const struct service_port *port)
{
	const struct container *c = pod_only_container(pod);
	struct listen_port server =
		c ? container_listens_on(c) : (struct listen_port){0};
	struct finding *f;

	if (!server.number || server.number == port->number ||
	    declares(c, port->number))
		return;
	f = report_container(
		run, c, server.at,
		"%s sends to port %s, but container `%s` listens on port %s%s",
		title_of(run, service), rule_number(run, port->number),
		container_title(c), rule_number(run, server.number),
		server.by_default ? " (the default)" : "");
	finding_label_place(run, f, &port->place, "sent to");
}

static bool pod_has_port(const struct pod *pod, const char *name)
{
	FOR_EACH_CONTAINER(pod, c)
		if (has_port(c, name))
			return true;
	return false;
}

static bool selects_others(struct rule_run *run, const struct workload *w,
			   const struct kube_service *service)
{
	FOR_EACH_WORKLOAD(rule_index(run), other)
		for (size_t p = 0; p < other->npods; p++)
			if ((strcmp(other->id.name, w->id.name) != 0 ||
			     strcmp(other->id.kind, w->id.kind) != 0) &&
			    service_selects(service, &other->pods[p]))
				return true;
	return false;
}

/* Compares each port of the Service with the pods of a workload, if it selects
 * no other workload. */
static void check_service(struct rule_run *run, const struct workload *w,
			  const struct kube_service *service)
{
	const struct object *object = rule_object(run, w);

	if (!object || object->npods != 1 || object->pods->flat ||
	    selects_others(run, w, service))
		return;
	for (size_t i = 0; i < service->nports; i++) {
		const struct service_port *port = &service->ports[i];
		struct finding *f;

		if (!port->name) {
			check_number(run, object->pods, service, port);
			continue;
		}
		if (pod_has_port(object->pods, port->name) ||
		    !object_kind_has(object, KIND_NATIVE))
			continue;
		f = report_pod(
			run, object->pods, NULL,
			"%s sends requests to the port `%s`, which no container of the pods declares",
			title_of(run, service), port->name);
		finding_label_place(run, f, &port->place, "sent to");
	}
}

static void check_workload(struct rule_run *run, const struct workload *w)
{
	const struct object_index *set = rule_index(run);

	if (!set->nservices || w->npods != 1 || is_too_large(run))
		return;
	for (size_t i = 0; i < set->nservices; i++)
		if (set->services[i].nports &&
		    service_is_beside(set, &set->services[i], w) &&
		    service_selects(&set->services[i], w->pods))
			check_service(run, w, &set->services[i]);
}

/* --- a pool without pods -------------------------------------------------- */

/* True if the pool's file contains a server, and the pool certainly selects no
 * pod of the input. */
static bool misses_server(struct rule_run *run, const struct kube_service *pool)
{
	bool server = false, selected = false;

	FOR_EACH_WORKLOAD(rule_index(run), w) {
		bool beside = w->place.file == pool->place.file &&
			      service_is_beside(rule_index(run), pool, w);

		for (size_t p = 0; p < w->npods; p++) {
			selected |= service_may_select(pool, &w->pods[p]);
			server |= beside && w->serving && w->pods[p].gpu;
		}
	}
	return server && !selected;
}

/* Returns whether a container declares the port or listens on it; unknown
 * unless each one declares ports. */
static enum tri has_number(const struct pod *pod, int64_t number)
{
	enum tri has = pod->ncontainers ? TRI_NO : TRI_UNKNOWN;

	FOR_EACH_CONTAINER(pod, c) {
		struct listen_port server = container_listens_on(c);

		if (declares(c, number) || server.number == number)
			return TRI_YES;
		if ((server.number && !server.by_default) ||
		    !node_count(node_get(c->node, "ports")))
			has = TRI_UNKNOWN;
	}
	return has;
}

/* Reports pods that a pool selects in addition to its servers; an info, because
 * they may listen on a port that they do not declare. */
static void check_others(struct rule_run *run, const struct kube_service *pool)
{
	const struct workload *other = NULL;
	bool server = false;

	FOR_EACH_WORKLOAD(rule_index(run), w) {
		bool selected = w->npods == 1 &&
				service_is_beside(rule_index(run), pool, w) &&
				service_selects(pool, w->pods);
		const struct pod *pod = selected ? rule_pod(run, w, 0) : NULL;
		enum tri has = pod ? has_number(pod, pool->ports->number)
				   : TRI_UNKNOWN;

		server |= has == TRI_YES;
		other = has == TRI_NO && !pod->flat ? w : other;
	}
	if (server && other)
		finding_severity(
			report_place(
				run, &pool->id, &pool->selector_place,
				"%s also selects the pods of %s, which declare other ports: if they do not listen on %s, requests to them fail",
				title_of(run, pool),
				rule_title(run, other->id.kind, other->id.name),
				rule_number(run, pool->ports->number)),
			SEVERITY_INFO);
}

static void check_pools(struct rule_run *run)
{
	const struct object_index *set = rule_index(run);

	for (size_t i = 0; i < set->nservices; i++) {
		const struct kube_service *pool = &set->services[i];

		if (!pool->pool || !pool->nselector || is_too_large(run))
			continue;
		if (misses_server(run, pool))
			report_place(
				run, &pool->id, &pool->selector_place,
				"%s selects no pod of the input files: requests reach none of the servers in them",
				title_of(run, pool));
		else if (pool->nports == 1 && !pool->ports->name)
			check_others(run, pool);
	}
}

const struct rule rule_server_port_mismatch = {
	.name = "server-port-mismatch",
	.category = "serving",
	.severity = SEVERITY_WARNING,
	.needs = NEEDS_SET,
	.scope = GPU_PODS | PODSPEC,
	.summary =
		"a probe, Service or InferencePool that sends requests where no server listens",
	.why = "The pods hold their GPUs and get no request, or restart because a probe never succeeds.",
	.remedy =
		"Use the port on which the server listens, and the labels of its pods.",
	.evidence =
		"https://kubernetes.io/docs/concepts/services-networking/service/#field-spec-ports; https://github.com/kubernetes-sigs/gateway-api-inference-extension/issues/2562",
	.check_pod = check_pod,
	.check_workload = check_workload,
	.check_set = check_pools,
};
