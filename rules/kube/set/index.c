/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts of a set: which objects are kept, and how sets of several threads
 * become one. Only what a rule asks for is kept: policy objects, each once,
 * and workloads with GPU pods.
 */
#include "kube/set/index.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/text.h"
#include "index_internal.h"
#include "kube/claim.h"
#include "kube/identity.h"

const char *index_text(struct arena *arena, const char *text)
{
	return text && *text ? arena_strdup(arena, text) : "";
}

struct object_id index_id(struct arena *arena, const struct object *o)
{
	return (struct object_id){
		index_text(arena, o->api_version), index_text(arena, o->kind),
		index_text(arena, o->namespace), index_text(arena, o->name)};
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

void place_settle(struct arena *arena, struct place *place)
{
	const struct node *node = place->node;
	const struct doc *doc;
	struct position from, to;

	if (!node)
		return;
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

struct place place_of(struct arena *arena, const struct object *object,
		      const struct node *node, uint32_t file)
{
	struct place place = place_later(object, node, file);

	place_settle(arena, &place);
	return place;
}

bool object_is_gpu_workload(const struct object *o)
{
	FOR_EACH_POD(o, pod)
		if (pod->gpu_by)
			return true;
	return false;
}

/* On the heap: growing in an arena would keep every smaller copy. */
static void *reserve(void *items, size_t n, size_t *size, size_t item_size)
{
	if (n <= *size)
		return items;
	*size = n + n / 4 + 8;
	items = reallocarray(items, *size, item_size);
	if (!items)
		BUG("out of memory");
	return items;
}

#define RESERVE(set, list, n)                                                  \
	((set)->list = reserve((set)->list, (n), &(set)->list##_size,          \
			       sizeof(*(set)->list)))

static bool add_named(struct object_index *set, const struct object *o,
		      uint32_t file)
{
	struct named_object named;

	if (!index_add_named(set, o, file, &named))
		return false;
	RESERVE(set, named, set->nnamed + 1);
	set->named[set->nnamed++] = named;
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
		RESERVE(set, quotas, set->nquotas + 1);
		quota_read(&set->arena, o, file, &set->quotas[set->nquotas]);
		set->quotas[set->nquotas].cluster = set->cluster;
		set->quotas[set->nquotas++].content = content;
	} else if (range) {
		RESERVE(set, limit_ranges, set->nlimit_ranges + 1);
		limit_range_read(&set->arena, o, file,
				 &set->limit_ranges[set->nlimit_ranges]);
		set->limit_ranges[set->nlimit_ranges].cluster = set->cluster;
		set->limit_ranges[set->nlimit_ranges++].content = content;
	} else {
		RESERVE(set, classes, set->nclasses + 1);
		priority_class_read(&set->arena, o, file,
				    &set->classes[set->nclasses]);
		set->classes[set->nclasses].cluster = set->cluster;
		set->classes[set->nclasses++].content = content;
	}
	return true;
}

static void add_request(struct object_index *set, const struct object *o,
			const struct node *request, uint32_t file)
{
	const struct node *name = node_get(request, "deviceClassName");

	if (!node_str(name) || !*node_str(name))
		return;
	RESERVE(set, requests, set->nrequests + 1);
	set->requests[set->nrequests++] = (struct class_request){
		.id = index_id(&set->arena, o),
		.place = place_of(&set->arena, o, name, file),
		.name = index_text(&set->arena, node_str(name)),
		.cluster = set->cluster};
}

static void add_requests(struct object_index *set, const struct object *o,
			 uint32_t file)
{
	FOR_EACH_CHILD(claim_requests(o), request) {
		const struct node *exactly = node_get(request, "exactly");

		add_request(set, o, exactly ? exactly : request, file);
		FOR_EACH_CHILD(node_get(request, "firstAvailable"), one)
			add_request(set, o, one, file);
	}
}

void object_index_add(struct object_index *set, const struct object *o,
		      uint32_t file)
{
	struct arena *scratch;
	struct workload *w;

	add_requests(set, o, file);
	index_add_scaler(set, o, file);
	index_add_service(set, o, file);
	/* What is one of these may hold pods as well. */
	if (!add_named(set, o, file))
		add_policy(set, o, file);
	if (!object_is_gpu_workload(o))
		return;
	scratch = &workload_index_of(set)->scratch;
	w = workload_read(scratch, o, file);
	index_read_service_use(o, w);
	workload_settle(scratch, w);
	w->cluster = set->cluster;
	set->clusters |= w->cluster != NULL;
	workload_index_add(set, w);
	arena_reset(scratch);
}

/* --- joining -------------------------------------------------------------- */

#define APPEND(list)                                                           \
	do {                                                                   \
		RESERVE(dst, list, dst->n##list + src->n##list);               \
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
	APPEND(named);
	dst->clusters |= src->clusters;
	workload_index_join(dst, src);
	arena_adopt(&dst->arena, &src->arena);
	memset(src, 0, sizeof(*src));
}

void object_index_release(struct object_index *set)
{
	workload_index_release(set);
	free(set->quotas);
	free(set->limit_ranges);
	free(set->classes);
	free(set->requests);
	free(set->scalers);
	free(set->services);
	free(set->named);
	arena_release(&set->arena);
	memset(set, 0, sizeof(*set));
}
