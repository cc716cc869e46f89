/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variables of an expression: the object with its parts, and the engine's facts
 * about it (`gpugate`). A value that is missing from the input, or hidden by a
 * placeholder, is unknown. The request and the old object come from an
 * admission review; an object in a file counts as created.
 */
#include <stdlib.h>

#include "base/text.h"
#include "custom_internal.h"
#include "kube/purpose/purpose.h"
#include "kube/scheduling/affinity.h"
#include "kube/typed.h"
#include "rules/engine/run/run_internal.h"

enum variable {
	VARIABLE_OBJECT,
	VARIABLE_OLD_OBJECT,
	VARIABLE_REQUEST,
	VARIABLE_NAMESPACE,
	VARIABLE_PARAMS,
	VARIABLE_GPUGATE,
	VARIABLE_POD,
	VARIABLE_CONTAINER,
	VARIABLES,
};

/* --- types ---------------------------------------------------------------- */

/* Fields of `gpugate` for every rule. The fields for a pod and for a container
 * follow. */
#define OF_OBJECT                                                              \
	"gpugate totalGpus:int pods:int peakPods:int gpus:int "                \
	"workload:string cluster:@2"
#define OF_POD OF_OBJECT " role:string resource:string spot:bool"

enum { TYPE_REQUEST, TYPE_GPUGATE = 3 };

static const char *const types[] = {
	"request operation:string namespace:string name:string dryRun:bool "
	"userInfo:dyn kind:dyn resource:dyn subResource:string options:dyn",
	"gpugate.image host:string name:string tag:string",
	"gpugate.cluster priorityClasses:list(string) "
	"runtimeClasses:list(string) volcanoQueues:list(string) "
	"clusterQueues:list(string) nodes:int",
	[TYPE_GPUGATE + EACH_OBJECT] = OF_OBJECT,
	[TYPE_GPUGATE + EACH_POD] = OF_POD,
	[TYPE_GPUGATE + EACH_CONTAINER] = OF_POD " image:@1",
};

const struct cel_variable *custom_variables(struct arena *arena,
					    enum custom_each each)
{
	static const char *const names[VARIABLES] = {
		"object", "oldObject", "request", "namespaceObject",
		"params", "gpugate",   "pod",	  "container",
	};
	struct cel_variable *variables =
		ARENA_ARRAY(arena, struct cel_variable, VARIABLES + 1);

	for (unsigned i = 0; i < VARIABLE_POD + (unsigned)each; i++)
		variables[i] = (struct cel_variable){names[i],
						     cel_type_of_kind(CEL_DYN)};
	variables[VARIABLE_REQUEST].type =
		cel_type_object(arena, types, TYPE_REQUEST);
	variables[VARIABLE_GPUGATE].type =
		cel_type_object(arena, types, TYPE_GPUGATE + each);
	return variables;
}

/* --- values --------------------------------------------------------------- */

static struct cel_value
fields_of(struct custom_subject *s,
	  bool (*field)(struct cel_eval *eval, void *context,
			struct cel_text name, struct cel_value *out))
{
	struct cel_items *map = ARENA_NEW(s->arena, struct cel_items);

	map->field = field;
	map->context = s;
	return (struct cel_value){.kind = CEL_OBJECT, .map = map};
}

static struct cel_value of_amount(struct amount amount)
{
	return amount.unknown ? cel_unknown(NULL) : cel_int(amount.n);
}

static struct cel_value of_node(struct custom_subject *s,
				const struct node *node)
{
	return node ? cel_from_node(s->arena, node, NULL) : cel_unknown(NULL);
}

/* Returns the tree that expressions read. An object from an API server is in
 * its final form; an embedded one is in the author's form, as in a file. */
static const struct node *tree(struct custom_subject *s)
{
	struct run_state *state = s->run->run->state;

	if (s->as_written ||
	    (!s->run->run->options.file_values && !s->object->parent))
		return s->object->root;
	if (!state->sent)
		state->sent = typed_as_sent(&state->doc_arena, s->object);
	return state->sent;
}

const struct node *custom_seen(struct custom_subject *s,
			       const struct node *node)
{
	const struct node *seen = typed_origin(node, s->object->root, tree(s));

	return seen ? seen : node;
}

const struct node *custom_place(struct custom_subject *s,
				const struct node *node)
{
	return typed_origin(node, tree(s), s->object->root);
}

/* Returns the number of pods, in the steady state or at the peak, of this
 * template or of the object. */
static struct cel_value count_pods(const struct custom_subject *s, bool peak)
{
	struct amount sum = {0};

	FOR_EACH_POD(s->object, pod) {
		struct amount n = peak ? pod->peak : pod->steady;

		if (!s->pod || s->pod == pod)
			sum = amount_add(sum, n);
	}
	return of_amount(amount_mul(sum, object_copies(s->object)));
}

static struct cel_value count_gpus(const struct custom_subject *s)
{
	struct amount sum = {0};

	if (s->container)
		return of_amount(s->container->gpus);
	if (s->pod && s->pod->gpu_unknown)
		return cel_unknown(NULL);
	if (s->pod)
		return of_amount(s->pod->gpus);
	FOR_EACH_POD(s->object, pod) {
		sum = amount_max(sum, pod->gpus);
		sum.unknown |= pod->gpu_unknown;
	}
	return of_amount(sum);
}

static struct cel_value purpose(const struct custom_subject *s)
{
	static const char *const names[] = {
		[KIND_OTHER] = "other",	    [KIND_POD] = "other",
		[KIND_BATCH] = "batch",	    [KIND_TRAINING] = "training",
		[KIND_SERVING] = "serving", [KIND_SERVICE] = "service",
		[KIND_RAY] = "ray",	    [KIND_INTERACTIVE] = "interactive",
		[KIND_DAEMON] = "daemon",   [KIND_TEMPLATE] = "other",
	};

	FOR_EACH_POD(s->object, pod) {
		if (s->pod && s->pod != pod)
			continue;
		if (pod_is_training(pod))
			return cel_string("training");
		if (pod_is_serving(pod))
			return cel_string("serving");
	}
	return cel_string(names[s->object->class]);
}

static struct cel_value device(const struct custom_subject *s)
{
	const char *resource = s->container ? s->container->resource : NULL;

	if (!s->container)
		FOR_EACH_CONTAINER(s->pod, c)
			if (!resource)
				resource = c->resource;
	return cel_string(text_or_empty(resource));
}

/* Splits "host[:port]/name[:tag][@digest]": the first part is a host if it has
 * a dot or a colon, or is localhost (github.com/distribution/reference). */
static bool image_field(struct cel_eval *eval, void *context,
			struct cel_text name, struct cel_value *out)
{
	const struct custom_subject *s = context;
	const char *image = s->container->image, *slash, *end, *tag;
	size_t host = 0;

	*out = cel_unknown(node_get(s->container->node, "image"));
	if (!image)
		return true;
	slash = strchr(image, '/');
	if (slash && (memchr(image, '.', (size_t)(slash - image)) ||
		      memchr(image, ':', (size_t)(slash - image)) ||
		      text_starts(image, "localhost/")))
		host = (size_t)(slash - image);
	end = image + strcspn(image, "@");
	tag = memrchr(image + host, ':', (size_t)(end - image) - host);
	if (cel_text_eq(name, "host"))
		*out = host ? cel_stringn(image, host)
			    : cel_string("docker.io");
	else if (cel_text_eq(name, "tag"))
		*out = tag ? cel_stringn(tag + 1, (size_t)(end - tag - 1))
			   : cel_string("");
	else
		*out = cel_stringn(image + host + !!host,
				   (size_t)((tag ? tag : end) - image) - host -
					   !!host);
	return true;
}

static struct cel_value names_of(struct custom_subject *s,
				 enum cluster_kind kind)
{
	const struct cluster *cluster = rule_cluster(s->run);
	const struct cluster_object *objects;
	struct cel_value *names;
	size_t n;

	if (!cluster || cluster_unreadable(cluster, kind))
		return cel_unknown(NULL);
	objects = cluster_objects(cluster, kind, "", s->arena, &n);
	cluster_absent(cluster, kind, "", NULL);
	names = ARENA_ARRAY(s->arena, struct cel_value, n + 1);
	for (size_t i = 0; i < n; i++)
		names[i] = cel_string(arena_strdup(s->arena, objects[i].name));
	return cel_list(s->arena, names, n);
}

static struct cel_value count_nodes(const struct custom_subject *s)
{
	const struct cluster *cluster = rule_cluster(s->run);
	const struct node_group *groups;
	int64_t sum = 0;
	size_t n;

	if (!cluster || cluster_unreadable(cluster, CLUSTER_NODE))
		return cel_unknown(NULL);
	groups = cluster_nodes(cluster, &n);
	for (size_t i = 0; i < n; i++)
		sum += (int64_t)groups[i].count;
	return cel_int(sum);
}

static bool cluster_field(struct cel_eval *eval, void *context,
			  struct cel_text name, struct cel_value *out)
{
	struct custom_subject *s = context;

	if (cel_text_eq(name, "priorityClasses"))
		*out = names_of(s, CLUSTER_PRIORITY_CLASS);
	else if (cel_text_eq(name, "runtimeClasses"))
		*out = names_of(s, CLUSTER_RUNTIME_CLASS);
	else if (cel_text_eq(name, "volcanoQueues"))
		*out = names_of(s, CLUSTER_VOLCANO_QUEUE);
	else if (cel_text_eq(name, "clusterQueues"))
		*out = names_of(s, CLUSTER_QUEUE);
	else
		*out = count_nodes(s);
	return true;
}

static struct cel_value spot_of(const struct custom_subject *s)
{
	struct node_needs needs = pod_node_needs(s->pod);

	if (pod_spot(s->pod))
		return cel_bool(true);
	return needs.unknown ? cel_unknown(NULL) : cel_bool(false);
}

static bool gpugate_field(struct cel_eval *eval, void *context,
			  struct cel_text name, struct cel_value *out)
{
	struct custom_subject *s = context;

	if (cel_text_eq(name, "totalGpus"))
		*out = of_amount(s->object->gpus);
	else if (cel_text_eq(name, "pods"))
		*out = count_pods(s, false);
	else if (cel_text_eq(name, "peakPods"))
		*out = count_pods(s, true);
	else if (cel_text_eq(name, "gpus"))
		*out = count_gpus(s);
	else if (cel_text_eq(name, "workload"))
		*out = purpose(s);
	else if (cel_text_eq(name, "cluster"))
		*out = fields_of(s, cluster_field);
	else if (cel_text_eq(name, "role"))
		*out = cel_string(text_or_empty(s->pod->role));
	else if (cel_text_eq(name, "resource"))
		*out = device(s);
	else if (cel_text_eq(name, "spot"))
		*out = spot_of(s);
	else
		*out = fields_of(s, image_field);
	return true;
}

static bool request_field(struct cel_eval *eval, void *context,
			  struct cel_text name, struct cel_value *out)
{
	struct custom_subject *s = context;
	const struct object *object = s->object;
	const struct node *request = s->run->run->state->file.request;

	if (request) {
		request = node_getn(request, name.data, name.len);
		*out = request			     ? of_node(s, request)
		       : cel_text_eq(name, "dryRun") ? cel_bool(false)
						     : cel_string("");
		return true;
	}
	*out = cel_unknown(NULL);
	if (cel_text_eq(name, "operation"))
		*out = cel_string("CREATE");
	else if (cel_text_eq(name, "namespace") && object->cluster_scoped)
		*out = cel_string("");
	else if (cel_text_eq(name, "namespace") && object->namespace)
		*out = cel_string(object->namespace);
	else if (cel_text_eq(name, "name") && object->name)
		*out = cel_string(object->name);
	return true;
}

/* --- variables ------------------------------------------------------------ */

static struct cel_value map_of(struct custom_subject *s, const char *key,
			       struct cel_value value)
{
	struct cel_entry *entry = ARENA_NEW(s->arena, struct cel_entry);

	*entry = (struct cel_entry){cel_string(key), value};
	return cel_map(s->arena, entry, 1);
}

/* Returns the namespace, of which only the name and the labels are known; null
 * for a cluster-scoped object. */
static struct cel_value namespace_object(struct custom_subject *s)
{
	const struct cluster *cluster = rule_cluster(s->run);
	const struct node *labels = s->run->run->state->file.namespace_labels;
	const char *name = s->object->namespace;
	struct cel_entry *entries = ARENA_ARRAY(s->arena, struct cel_entry, 2);

	if (s->object->cluster_scoped)
		return cel_null();
	if (!labels && cluster && name)
		labels = cluster_namespace(cluster, name, s->arena);
	entries[0] =
		(struct cel_entry){cel_string("name"),
				   name ? cel_string(name) : cel_unknown(NULL)};
	entries[1] =
		(struct cel_entry){cel_string("labels"), of_node(s, labels)};
	return map_of(s, "metadata", cel_map(s->arena, entries, 2));
}

/* Returns the pod's template or, if there is none, a map with only the spec.
 * Returns unknown if there is no PodSpec. */
static struct cel_value pod_value(struct custom_subject *s)
{
	if (s->pod->template)
		return of_node(s, custom_seen(s, s->pod->template));
	if (s->pod->flat || !s->pod->spec)
		return cel_unknown(NULL);
	return map_of(s, "spec", of_node(s, custom_seen(s, s->pod->spec)));
}

static struct cel_value old_object(struct custom_subject *s)
{
	const struct run_file *file = &s->run->run->state->file;

	if (!file->request || file->old_unknown)
		return cel_unknown(NULL);
	return cel_from_node(s->arena, file->old_object, NULL);
}

static struct cel_value words_of(struct custom_subject *s, const char *text)
{
	struct cel_value *words =
		ARENA_ARRAY(s->arena, struct cel_value, strlen(text) + 1);
	size_t n = 0;

	while (*text) {
		size_t len = strcspn(text, ",");

		words[n++] = cel_stringn(text, len);
		text += len + (text[len] == ',');
	}
	return cel_list(s->arena, words, n);
}

/* Converts a value that the policy sets, given as text, to the type of its
 * parameter. */
static struct cel_value given_param(struct custom_subject *s,
				    const struct rule_param *param,
				    const char *text)
{
	switch (*param->type) {
	case 'i':
		return cel_int(strtoll(text, NULL, 10));
	case 'b':
		return cel_bool(!strcmp(text, "true"));
	case 'l':
		return words_of(s, text);
	default:
		return cel_string(text);
	}
}

static struct cel_value params_of(struct custom_subject *s)
{
	const struct rule_param *declared = s->rule->rule.params;
	const char *const *given = s->run->setting->params;
	const struct node *params = s->rule->params;
	struct cel_entry *entries =
		ARENA_ARRAY(s->arena, struct cel_entry, node_count(params) + 1);
	size_t n = 0, k = 0;

	FOR_EACH_CHILD(params, child) {
		bool known = declared && declared[k].name == child->key;

		entries[n++] = (struct cel_entry){
			cel_string(child->key),
			known && strcmp(given[k], declared[k].value)
				? given_param(s, &declared[k], given[k])
				: of_node(s, child)};
		k += known;
	}
	return cel_map(s->arena, entries, n);
}

struct cel_value custom_variable(struct cel_eval *eval, void *context,
				 unsigned index)
{
	struct custom_subject *s = context;

	switch ((enum variable)index) {
	case VARIABLE_OBJECT:
		return of_node(s, tree(s));
	case VARIABLE_OLD_OBJECT:
		return old_object(s);
	case VARIABLE_REQUEST:
		return fields_of(s, request_field);
	case VARIABLE_NAMESPACE:
		return namespace_object(s);
	case VARIABLE_PARAMS:
		return params_of(s);
	case VARIABLE_GPUGATE:
		return fields_of(s, gpugate_field);
	case VARIABLE_POD:
		return pod_value(s);
	case VARIABLE_CONTAINER:
		return of_node(s, custom_seen(s, s->container->node));
	default:
		return cel_unknown(NULL);
	}
}
