/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads Services and InferencePools (the pods that they select and the ports to
 * which they send requests), and the Services that routes name. Source:
 * pkg/kubelet/envvars FromServices (no variables for Services without a cluster
 * IP, or of type ExternalName); Ray's dashboard uses port 8265 of the head.
 */
#include "base/array.h"
#include "base/text.h"
#include "index_internal.h"

enum { DASHBOARD = 8265 };

static bool leads_to_dashboard(const struct node *ports)
{
	FOR_EACH_CHILD(ports, port) {
		const struct node *target = node_get(port, "targetPort");
		int64_t n;

		if (node_is_unset(target))
			target = node_get(port, "port");
		if (node_eq(target, "dashboard") ||
		    (node_int(target, &n) && n == DASHBOARD))
			return true;
	}
	return false;
}

static bool leads_in(const struct node *type)
{
	return node_eq(type, "LoadBalancer") || node_eq(type, "NodePort");
}

/* Reads the labels of the selector. Returns false if it uses expressions or is
 * unknown. */
static bool read_selector(struct arena *arena, const struct node *selector,
			  struct kube_service *out)
{
	const struct node *labels = node_get(selector, "matchLabels");

	if (out->pool && node_get(selector, "matchExpressions"))
		return false;
	if (out->pool && labels)
		selector = labels;
	out->selector =
		ARENA_ARRAY(arena, struct pod_label, node_count(selector) + 1);
	FOR_EACH_CHILD(selector, label)
		out->selector[out->nselector++] = (struct pod_label){
			index_text(arena, label->key),
			node_str(label) ? index_text(arena, node_str(label))
					: NULL};
	return !node_is_unknown(selector);
}

static void add_port(struct arena *arena, const struct object *o, uint32_t file,
		     const struct node *target, struct kube_service *out)
{
	struct service_port port = {.number = 0};

	if (!node_str(target) && !node_int(target, &port.number))
		return;
	if (node_str(target))
		port.name = index_text(arena, node_str(target));
	port.place = place_of(arena, o, target, file);
	out->ports[out->nports++] = port;
}

/* Reads the ports. An InferencePool has targetPorts, in versions before v1
 * targetPortNumber. */
static void read_ports(struct arena *arena, const struct object *o,
		       uint32_t file, struct kube_service *out)
{
	const struct node *spec = node_get(o->root, "spec");
	const struct node *ports =
		node_get(spec, out->pool ? "targetPorts" : "ports");

	out->ports =
		ARENA_ARRAY(arena, struct service_port, node_count(ports) + 1);
	FOR_EACH_CHILD(ports, port) {
		const struct node *target =
			node_get(port, out->pool ? "number" : "targetPort");

		if (!out->pool && node_is_unset(target))
			target = node_get(port, "port");
		add_port(arena, o, file, target, out);
	}
	if (out->pool)
		add_port(arena, o, file, node_get(spec, "targetPortNumber"),
			 out);
}

static bool is_pool(const struct object *o)
{
	return object_is(o, "inference.networking.k8s.io", "InferencePool") ||
	       object_is(o, "inference.networking.x-k8s.io", "InferencePool");
}

/* Reads the port numbers of a Service, which stay unset if one is unknown. */
static void read_numbers(struct arena *arena, const struct node *ports,
			 struct kube_service *out)
{
	int64_t *numbers = ARENA_ARRAY(arena, int64_t, node_count(ports) + 1);
	size_t n = 0;

	FOR_EACH_CHILD(ports, port)
		if (!node_int(node_get(port, "port"), &numbers[n++]))
			return;
	out->numbers = numbers;
	out->nnumbers = n;
}

/* Adds the Services to which a route of the Gateway API refers by port, in the
 * namespace of the route. */
static void add_routes(struct object_index *set, const struct object *o,
		       uint32_t file)
{
	FOR_EACH_CHILD(node_path(o->root, "spec.rules"), rule)
		FOR_EACH_CHILD(node_get(rule, "backendRefs"), ref) {
			const struct node *name = node_get(ref, "name");
			const struct node *kind = node_get(ref, "kind");
			const struct node *port = node_get(ref, "port");
			struct route_backend route = {.cluster = set->cluster};

			if (!node_str(name) || !node_int(port, &route.port) ||
			    (!node_is_unset(kind) &&
			     !node_eq(kind, "Service")) ||
			    !node_is_unset(node_get(ref, "namespace")))
				continue;
			route.id = index_id(&set->arena, o);
			route.service = index_text(&set->arena, node_str(name));
			route.name_place = place_of(&set->arena, o, name, file);
			route.port_place = place_of(&set->arena, o, port, file);
			*ARRAY_PUSH(set->routes, set->nroutes,
				    set->routes_size) = route;
		}
}

void index_add_service(struct object_index *set, const struct object *o,
		       uint32_t file)
{
	const struct node *spec = node_get(o->root, "spec");
	const struct node *type = node_get(spec, "type");
	const struct node *selector = node_get(spec, "selector");
	const struct node *ip = node_get(spec, "clusterIP");
	bool pool = is_pool(o);
	struct kube_service service;

	if (!o->fragment &&
	    (object_is(o, "gateway.networking.k8s.io", "HTTPRoute") ||
	     object_is(o, "gateway.networking.k8s.io", "GRPCRoute")))
		add_routes(set, o, file);
	if ((!pool && !object_is(o, "", "Service")) || o->fragment || !o->name)
		return;
	service = (struct kube_service){
		.id = index_id(&set->arena, o),
		.pool = pool,
		.place = place_of(&set->arena, o,
				  leads_in(type) ? type : index_name_node(o),
				  file),
		.has_address = !pool && !node_eq(ip, "None") &&
			       !node_is_unknown(ip) &&
			       !node_eq(type, "ExternalName") &&
			       !node_is_unknown(type),
		.exposes_dashboard =
			leads_in(type) &&
			leads_to_dashboard(node_get(spec, "ports")),
		.cluster = set->cluster};
	if (selector)
		service.selector_place =
			place_of(&set->arena, o, selector, file);
	if (!read_selector(&set->arena, selector, &service) && pool)
		return;
	read_ports(&set->arena, o, file, &service);
	if (!pool)
		read_numbers(&set->arena, node_get(spec, "ports"), &service);
	*ARRAY_PUSH(set->services, set->nservices, set->services_size) =
		service;
}

bool service_is_beside(const struct object_index *set,
		       const struct kube_service *service,
		       const struct workload *w)
{
	const struct workload of = {.place = service->place};
	bool one_file = service->place.file == w->place.file;

	/* Objects of one file that do not set a namespace are in the same
	 * namespace. */
	return (*service->id.namespace || one_file) &&
	       text_eq(service->id.namespace, w->id.namespace) &&
	       service->cluster == w->cluster &&
	       index_set_of(set, &of) == index_set_of(set, w);
}

static bool has_label(const struct workload_pod *pod,
		      const struct pod_label *label)
{
	for (size_t i = 0; i < pod->nlabels; i++)
		if (text_eq(pod->labels[i].key, label->key))
			return label->value &&
			       text_eq(pod->labels[i].value, label->value);
	return false;
}

bool service_selects(const struct kube_service *service,
		     const struct workload_pod *pod)
{
	for (size_t i = 0; i < service->nselector; i++)
		if (!has_label(pod, &service->selector[i]))
			return false;
	return service->nselector > 0;
}

/* True for labels that a controller gives each pod. */
static bool is_of_controller(const char *key)
{
	return text_starts(key, "statefulset.kubernetes.io/") ||
	       text_starts(key, "apps.kubernetes.io/") ||
	       text_ends(key, "-hash");
}

/* True if the pods certainly lack the label. */
static bool lacks_label(const struct workload_pod *pod,
			const struct pod_label *wanted)
{
	if (!wanted->value || is_of_controller(wanted->key))
		return false;
	for (size_t i = 0; i < pod->nlabels; i++)
		if (!strcmp(pod->labels[i].key, wanted->key))
			return pod->labels[i].value &&
			       strcmp(pod->labels[i].value, wanted->value) != 0;
	return !label_may_be_added(wanted->key, pod->more_labels);
}

bool service_may_select(const struct kube_service *service,
			const struct workload_pod *pod)
{
	for (size_t i = 0; i < service->nselector; i++)
		if (lacks_label(pod, &service->selector[i]))
			return false;
	return true;
}
