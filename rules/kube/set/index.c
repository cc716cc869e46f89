/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collects facts about the input: selects and copies the objects that are
 * stored, joins the facts of several threads, and computes facts about all
 * workloads together, so that no rule compares each workload with all others.
 * Only facts that a rule reads are stored: policy objects, each once, objects
 * that select pods or to which pods refer, and workloads with GPU pods.
 */
#include "kube/set/index.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "index_internal.h"
#include "kube/claim.h"
#include "kube/object.h"
#include "kube/runtime.h"

/* Copies texts and identities into the set, and computes places. */

const char *index_text(struct arena *arena, const char *text)
{
	return text && *text ? arena_strdup(arena, text) : "";
}

struct object_id index_id(struct arena *arena, const struct object *o)
{
	return object_id_copy(arena, object_id_of(o));
}

const struct node *index_name_node(const struct object *object)
{
	const struct node *metadata = node_get(object->root, "metadata");
	const struct node *name = node_get(metadata, "name");

	if (!name)
		name = node_get(metadata, "generateName");
	return name ? name : object->root;
}

struct place place_later(const struct object *object, const struct node *node,
			 uint32_t file)
{
	if (file == NO_FILE)
		return (struct place){.file = NO_FILE, .pointer = ""};
	return (struct place){.file = file, .object = object, .node = node};
}

static bool is_inside(const struct node *node, const struct node *root)
{
	while (node && node != root)
		node = node->parent;
	return node != NULL;
}

void place_settle(struct arena *arena, struct place *place)
{
	const struct node *node = place->node;
	const struct doc *doc;
	struct position from, to;

	if (!node)
		return;
	if (place->object->runtime && !is_inside(node, place->object->root))
		node = place->object->runtime;
	doc = place->object->doc;
	place->named_path = node_named_path(node, place->object->root);
	while (doc->host) {
		node = doc->host_node;
		doc = doc->host;
	}
	node_anchor(node, &place->start, &place->end);
	from = source_position(doc->source, place->start);
	to = source_position(doc->source, place->end);
	place->document = doc->number;
	place->line = from.line;
	place->column = from.column;
	place->end_line = to.line;
	place->end_column = to.column;
	place->pointer = node_pointer_text(arena, node);
	place->object = NULL;
	place->node = NULL;
}

struct spec_place spec_place_of(const struct pod *pod)
{
	const struct object *object = pod->object;
	const struct node *base = pod->base ? pod->base : pod->spec;
	const struct runtime *from =
		object->uses ? object_runtime_around(object, base) : NULL;
	struct spec_place place = {pod->spec->start, NO_FILE, 0};

	/* The object is in a string of the file, so its offsets are not those
	 * of the file. */
	if (object->doc->host)
		place.start = UINT32_MAX;
	if (from) {
		place.base_file = from->file;
		place.base = base->start;
	}
	return place;
}

struct place place_of(struct arena *arena, const struct object *object,
		      const struct node *node, uint32_t file)
{
	struct place place = place_later(object, node, file);

	place_settle(arena, &place);
	return place;
}

uint32_t index_set_of(const struct object_index *set, const struct workload *w)
{
	return index_file_set(set, w->place.file);
}

bool object_is_gpu_workload(const struct object *o)
{
	FOR_EACH_POD(o, pod)
		if (pod->gpu_by)
			return true;
	return false;
}

static bool add_named(struct object_index *set, const struct object *o,
		      uint32_t file)
{
	struct kept_object named;

	if (!index_add_named(set, o, file, &named))
		return false;
	*ARRAY_PUSH(set->named, set->nnamed, set->named_size) = named;
	return true;
}

static bool add_policy(struct object_index *set, const struct object *o,
		       uint32_t file)
{
	bool quota = object_is(o, "", "ResourceQuota");
	bool range = object_is(o, "", "LimitRange");
	uint64_t content;

	if (!quota && !range &&
	    !object_is(o, "scheduling.k8s.io", "PriorityClass"))
		return false;
	content = index_content(set, o);
	if (quota) {
		struct quota *one =
			ARRAY_PUSH(set->quotas, set->nquotas, set->quotas_size);

		quota_read(&set->arena, o, file, one);
		one->cluster = set->cluster;
		one->content = content;
	} else if (range) {
		struct limit_range *one =
			ARRAY_PUSH(set->limit_ranges, set->nlimit_ranges,
				   set->limit_ranges_size);

		limit_range_read(&set->arena, o, file, one);
		one->cluster = set->cluster;
		one->content = content;
	} else {
		struct priority_class *one = ARRAY_PUSH(
			set->classes, set->nclasses, set->classes_size);

		priority_class_read(&set->arena, o, file, one);
		one->cluster = set->cluster;
		one->content = content;
	}
	return true;
}

/* Numbers of devices that quotas count for an object's requests, by class. */
struct counted {
	struct class_count *items;
	size_t n;
};

/* Returns the devices that quotas count for the class; 0 when called again for
 * the same class. */
static int64_t counted_take(struct counted *counted, const char *class)
{
	int64_t n = 0;

	for (size_t i = 0; i < counted->n; i++)
		if (!strcmp(counted->items[i].class, class)) {
			n = counted->items[i].n;
			counted->items[i].n = 0;
		}
	return n;
}

static int64_t least_devices(const struct node *request)
{
	const struct node *mode = node_get(request, "allocationMode");
	struct amount n = amount_int(node_get(request, "count"), 1);

	if (node_eq(mode, "All"))
		return 1;
	return (node_is_unset(mode) || node_eq(mode, "ExactCount")) &&
			       !n.unknown
		       ? n.n
		       : 0;
}

/* Returns the new row, or NULL if the request names no class. */
static struct class_request *add_request(struct object_index *set,
					 const struct object *o,
					 const struct node *request,
					 uint32_t file)
{
	struct class_request *row;
	const struct node *name = node_get(request, "deviceClassName");

	if (!node_str(name) || !*node_str(name))
		return NULL;
	row = ARRAY_PUSH(set->requests, set->nrequests, set->requests_size);
	*row = (struct class_request){
		.id = index_id(&set->arena, o),
		.place = place_of(&set->arena, o, name, file),
		.name = index_text(&set->arena, node_str(name)),
		.cluster = set->cluster};
	return row;
}

static void add_requests(struct object_index *set, const struct object *o,
			 uint32_t file)
{
	const struct node *requests = claim_requests(o);
	struct counted counted = {NULL, 0};
	bool unknown;

	if (requests && text_eq(o->kind, "ResourceClaim"))
		counted.items = claim_counts(&set->arena, requests, &counted.n,
					     &unknown);
	FOR_EACH_CHILD(requests, request) {
		const struct node *exactly = node_get(request, "exactly");
		struct class_request *row;

		if (exactly)
			request = exactly;
		row = add_request(set, o, request, file);
		if (row) {
			row->counted = counted_take(&counted, row->name);
			row->least = least_devices(request);
		}
		FOR_EACH_CHILD(node_get(request, "firstAvailable"), one) {
			row = add_request(set, o, one, file);
			if (row)
				row->counted =
					counted_take(&counted, row->name);
		}
	}
}

void object_index_add(struct object_index *set, const struct object *o,
		      uint32_t file)
{
	struct arena *scratch;
	struct workload *w;

	/* The API server rejects the object, so it does not exist. */
	if (!o->npods && version_is_gone(object_removed_version(o)))
		return;
	add_requests(set, o, file);
	index_add_scaler(set, o, file);
	index_add_service(set, o, file);
	index_add_config(set, o, file);
	index_add_group(set, o, file);
	/* A named object or a policy object may have pods as well. */
	if (!add_named(set, o, file))
		add_policy(set, o, file);
	if (!object_is_gpu_workload(o))
		return;
	scratch = &workload_index_of(set)->scratch;
	w = workload_read(scratch, o, file);
	place_settle(scratch, &w->place);
	for (size_t i = 0; i < w->npods; i++)
		if (w->pods[i].without_class)
			place_settle(scratch, &w->pods[i].without_class->place);
	w->cluster = set->cluster;
	set->clusters |= w->cluster != NULL;
	workload_index_add(set, w);
	arena_reset(scratch);
}

/* --- the set as a whole --------------------------------------------------- */

/* Stores the serving workload with the lowest class. Copies the name, because c
 * may be in a cache that the next look-up replaces. */
static void note_server(struct object_index *set, const struct workload *w,
			const struct priority_class *c)
{
	if (!c || c->value.unknown ||
	    (set->serving_class && c->value.n >= set->serving_value))
		return;
	set->serving_class = index_text(&set->arena, c->id.name);
	set->serving_value = c->value.n;
	set->serving_cluster = w->cluster;
	set->serving_set = index_set_of(set, w);
	set->server = object_id_copy(&set->arena, w->id);
}

static void note_class(struct object_index *set, const struct workload *w,
		       const struct workload_pod *pod)
{
	const char *name = pod->priority_class;
	const struct priority_class *c =
		name ? index_own_class(set, w, name) : NULL;

	if (c && pod->gpu)
		set->classes[c - set->classes].used_by_gpu = true;
	if (name && w->serving)
		note_server(set, w, c ? c : index_class(set, w, name));
}

static void note_classes(struct object_index *set)
{
	/* With only one workload, there is nothing to compare with classes of a
	 * cluster. */
	bool known = set->nclasses || (set->clusters && set->nworkloads > 1);

	if (known)
		FOR_EACH_WORKLOAD(set, w)
			for (size_t i = 0; i < w->npods; i++)
				note_class(set, w, &w->pods[i]);
}

void object_index_finish(struct object_index *set)
{
	workload_index_finish(set);
	index_sort_policies(set);
	index_sort_named(set);
	note_classes(set);
}

/* --- joining -------------------------------------------------------------- */

#define APPEND(list)                                                           \
	do {                                                                   \
		dst->list =                                                    \
			array_reserve(dst->list, dst->n##list + src->n##list,  \
				      &dst->list##_size, sizeof(*dst->list));  \
		if (src->n##list)                                              \
			memcpy(dst->list + dst->n##list, src->list,            \
			       src->n##list * sizeof(*dst->list));             \
		dst->n##list += src->n##list;                                  \
		free(src->list);                                               \
	} while (0)

void object_index_join(struct object_index *dst, struct object_index *src)
{
	APPEND(quotas);
	APPEND(limit_ranges);
	APPEND(classes);
	APPEND(requests);
	APPEND(scalers);
	APPEND(services);
	APPEND(configs);
	APPEND(groups);
	APPEND(routes);
	APPEND(named);
	APPEND(workloads);
	workload_index_of(dst);
	dst->clusters |= src->clusters;
	workload_index_release(src);
	arena_adopt(&dst->arena, &src->arena);
	memset(src, 0, sizeof(*src));
}

void object_index_release(struct object_index *set)
{
	namespace_cache_release(set);
	workload_index_release(set);
	free(set->workloads);
	free(set->quotas);
	free(set->limit_ranges);
	free(set->classes);
	free(set->requests);
	free(set->scalers);
	free(set->services);
	free(set->configs);
	free(set->groups);
	free(set->routes);
	free(set->named);
	arena_release(&set->arena);
	memset(set, 0, sizeof(*set));
}
