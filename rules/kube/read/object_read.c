/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns documents into objects: lists are split as kubectl does (items without
 * apiVersion and kind get the list's), embedded objects become children of the
 * object that contains them, YAML in strings is read with the same reader, and
 * partial objects (kustomize patches) are distinguished from complete ones.
 *
 * Pods, containers and embedded objects have pointers to their object, which
 * are set last because growing lists move.
 */
#include "rules/kube/operator.h"

#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "doc/budget.h"
#include "doc/load.h"

struct object_reader {
	struct arena *arena;
	const struct kube_config *config;
	const struct node **nested_list;
};

static void object_fill(struct object_reader *reader, struct object *object);

/* -- identity ------------------------------------------------------------ */

enum { NAME_BYTES = 1024 };

const char *name_read(struct arena *arena, const struct node *map,
		      const char *key)
{
	const struct node *node = node_get(map, key);
	const char *name = node_str(node);
	size_t len = NAME_BYTES;

	if (!name || node->len <= NAME_BYTES)
		return name;
	while (len && ((unsigned char)name[len] & 0xc0) == 0x80)
		len--; /* the cut is inside of a code point */
	return arena_strndup(arena, name, len);
}

static void read_identity(struct object_reader *reader, struct object *object)
{
	const struct node *metadata = node_get(object->root, "metadata");
	const char *slash = strchr(object->api_version, '/');
	size_t len = slash ? (size_t)(slash - object->api_version) : 0;

	object->type = kind_find(object->api_version, len, object->kind);
	object->claims = reader->config->claims;
	object->version = slash ? slash + 1 : object->api_version;
	if (object->type)
		object->group = object->type->group;
	else
		object->group =
			arena_strndup(reader->arena, object->api_version, len);
	object->name = name_read(reader->arena, metadata, "name");
	object->namespace = name_read(reader->arena, metadata, "namespace");
	object->generate_name =
		name_read(reader->arena, metadata, "generateName");
	if (object->type) {
		object->class = object->type->class;
		object->cluster_scoped = object->type->flags & KIND_CLUSTER;
	}
}

/* -- fragments ----------------------------------------------------------- */

static bool is_fragment(const struct object *object)
{
	const struct kind *type = object->type;
	const struct node *spec = node_get(object->root, "spec");

	if (!node_is_unset(node_get(object->root, "$patch")) ||
	    (node_is_map(spec) && !node_is_unset(node_get(spec, "$patch"))))
		return true;
	if (!type)
		return false;
	if (type->flags & KIND_PART)
		return true;
	/* In the first beta versions, the API server sets the selector by
	 * default. */
	if (type->flags & KIND_SELECTOR && strcmp(object->version, "v1beta1") &&
	    node_is_unset(node_get(spec, "selector")))
		return true;
	return (type->flags & KIND_NATIVE) && type->pods && !object->npods &&
	       strcmp(type->kind, "Rollout");
}

/* -- embedded objects ---------------------------------------------------- */

static bool identify(struct object *object, const struct doc *doc,
		     const struct node *root)
{
	*object = (struct object){
		.doc = doc,
		.root = root,
		.spelled = root,
		.merged = root,
		.api_version = node_str(node_get(root, "apiVersion")),
		.kind = node_str(node_get(root, "kind")),
		.copies = {.n = 1},
	};
	root = node_get(root, "metadata");
	object->labels = node_get(root, "labels");
	object->annotations = node_get(root, "annotations");
	return object->api_version && object->kind;
}

/* Limit on manifests inside of manifests; real ones are less deep. */
enum { EMBED_DEPTH = 8 };

static bool too_deep(const struct object *object)
{
	int depth = 0;

	for (; object; object = object->parent)
		depth++;
	return depth > EMBED_DEPTH;
}

void embed_add(struct pod_builder *builder, const struct doc *doc,
	       const struct node *node, struct amount copies)
{
	struct object_reader reader = {.arena = builder->arena,
				       .config = builder->config};
	const struct load_cost one = {.list_work = WORK_ITEMS};
	struct object *parent = builder->object;
	struct object child;

	if (!node_is_map(node) || !identify(&child, doc, node) ||
	    too_deep(parent))
		return;
	if (!load_budget_spend(builder->arena->budget, &one))
		return;
	child.copies = copies;
	child.parent = parent;
	object_fill(&reader, &child);
	*VEC_PUSH(builder->arena, parent->embedded, parent->nembedded,
		  builder->embed_size) = child;
}

/* Reads a manifest in a string as a separate document. */
static void embed_yaml(struct pod_builder *builder, const struct node *node,
		       struct amount copies)
{
	struct arena *arena = builder->arena;
	struct loader loader;
	struct doc *doc;

	if (node->type != NODE_STRING || !node->str ||
	    too_deep(builder->object))
		return;
	if (!embedded_init(&loader, arena, builder->object->doc->source->name,
			   text_without_markup(arena, node->str, node->len),
			   node->len))
		return;
	doc = ARENA_NEW(arena, struct doc);
	while (embedded_next(&loader, doc)) {
		if (doc->root) {
			doc->host = builder->object->doc;
			doc->host_node = node;
			placeholder_mark(doc);
			embed_add(builder, doc, doc->root, copies);
		}
		doc = ARENA_NEW(arena, struct doc);
	}
}

struct embed_walk {
	struct pod_builder *builder;
	const struct embed_row *row;
};

static void found_embedded(struct path_walk *walk, const struct node *node,
			   const struct node *element)
{
	struct embed_walk *embed = walk->context;
	struct object *object = embed->builder->object;
	struct count_place place = {
		.arena = embed->builder->arena,
		.object = object,
		.group = object->root,
		.element = element,
	};
	struct amount copies = count_eval(embed->row->copies, &place);

	if (embed->row->yaml)
		embed_yaml(embed->builder, node, copies);
	else
		embed_add(embed->builder, object->doc, node, copies);
}

static void embeds_read(struct pod_builder *builder)
{
	const struct embed_row *row = builder->object->type->embeds;

	for (; row && row->path; row++) {
		struct embed_walk embed = {.builder = builder, .row = row};
		struct path_walk walk = {.found = found_embedded,
					 .context = &embed};

		path_each(&walk, builder->object->spelled, row->path, NULL);
	}
}

/* -- sums ---------------------------------------------------------------- */

/*
 * Keeps the steady number of the workflow's step with the most devices. The
 * numbers of other steps become unknown, because steps need not run at the same
 * time. If a step runs once for every item of a list (fans_out()), all numbers
 * are unknown.
 */
static void runs_one(struct arena *arena, struct object *object)
{
	const struct workload_operator *by = object_operator(object);
	bool wide = by->fans_out && by->fans_out(object);
	size_t most = 0;

	for (size_t i = 1; i < object->npods; i++)
		if (object->pods[i].gpus.n > object->pods[most].gpus.n)
			most = i;
	for (size_t i = 0; i < object->npods; i++) {
		struct pod *pod = &object->pods[i];

		if (pod->steady.n > 0 && wide)
			pod->peak.unknown = pod->steady.unknown = true;
		if (i != most && pod->steady.n > 0)
			pod->steady = (struct amount){.unknown = true};
	}
	if (by->peaks && object->npods)
		by->peaks(arena, object);
}

/* Marks the peaks of a schedule as lower bounds if its runs may overlap
 * (concurrencyPolicy Allow, the default). */
static void mark_overlaps(struct object *object)
{
	const struct node *policy =
		node_path(object->root, "spec.concurrencyPolicy");

	if (node_eq(policy, "Forbid") || node_eq(policy, "Replace"))
		return;
	for (size_t i = 0; i < object->npods; i++)
		if (object->pods[i].peak.n > 0)
			object->pods[i].peak.unknown = true;
}

static void add_totals(struct object *object)
{
	FOR_EACH_POD(object, pod) {
		object->gpus = amount_add(object->gpus,
					  amount_mul(pod->steady, pod->gpus));
		object->gpus_peak = amount_add(
			object->gpus_peak, amount_mul(pod->peak, pod->gpus));
	}
	for (size_t i = 0; i < object->nembedded; i++) {
		const struct object *child = &object->embedded[i];

		object->gpus = amount_add(
			object->gpus, amount_mul(child->copies, child->gpus));
		object->gpus_peak =
			amount_add(object->gpus_peak,
				   amount_mul(child->copies, child->gpus_peak));
	}
}

/* -- one object ---------------------------------------------------------- */

static const struct policy_kind *
policy_kind_of(const struct kube_config *config, const struct object *object)
{
	for (size_t i = 0; i < config->nkinds; i++) {
		const struct policy_kind *kind = &config->kinds[i];

		if (text_eq(kind->api_version, object->api_version) &&
		    text_eq(kind->kind, object->kind))
			return kind;
	}
	return NULL;
}

/* True for custom kinds of jobs, of training, of serving and of Ray, in which
 * fields outside of the table may contain pods. Unknown fields of native kinds
 * are dropped by the API server. */
static bool makes_pods(const struct object *object)
{
	if (object->type->flags & (KIND_NATIVE | KIND_SELECTOR))
		return false;
	return object->class == KIND_TRAINING ||
	       object->class == KIND_SERVING || object->class == KIND_RAY ||
	       object->class == KIND_BATCH;
}

static void read_pods(struct pod_builder *builder)
{
	struct object *object = builder->object;
	const struct policy_kind *kind =
		policy_kind_of(builder->config, object);

	if (kind) {
		policy_kind_read(builder, kind);
	} else if (!object->type) {
		shape_read(builder);
	} else {
		pods_read(builder->arena, builder->config, object);
		embeds_read(builder);
		/* The object may have another version, or a field that is not
		 * in the table. */
		if (!object->npods && !object->nembedded && makes_pods(object))
			shape_read(builder);
	}
}

/* Sets the pointers from pods to the object and from containers to pods, when
 * the pods will not move in their array any more. */
static void link_pods(struct object *object)
{
	for (size_t i = 0; i < object->npods; i++) {
		struct pod *pod = &object->pods[i];

		pod->object = object;
		for (size_t j = 0; j < pod->ncontainers + pod->nephemeral; j++)
			pod->containers[j].pod = pod;
	}
}

/* Sets the pointers from containers to pods, from pods to objects, and from
 * embedded objects to their parents. */
static void object_link(struct object *object)
{
	link_pods(object);
	for (size_t i = 0; i < object->nembedded; i++) {
		object->embedded[i].parent = object;
		object_link(&object->embedded[i]);
	}
}

static void object_fill(struct object_reader *reader, struct object *object)
{
	struct pod_builder builder = {.arena = reader->arena,
				      .config = reader->config,
				      .object = object};
	const struct node *suspend;

	read_identity(reader, object);
	object->kueue = object_kueue_label(object) ||
			(object->parent && object->parent->kueue);
	read_pods(&builder);
	object_link(object);
	if (object->type && object->type->suspend) {
		suspend = path_get(object->root, object->type->suspend);
		object->suspended = node_is_true(suspend);
	}
	object->fragment |= reader->config->fragment || is_fragment(object);
	if (object_kind_has(object, KIND_ONE))
		runs_one(reader->arena, object);
	if (object_kind_has(object, KIND_SCHEDULED))
		mark_overlaps(object);
	add_totals(object);
	if (object->npods || object->nembedded)
		object_gang(object);
}

/* -- documents ----------------------------------------------------------- */

/* Returns the objects in a List, or in a Template of OpenShift, whose
 * parameters are placeholders; NULL for any other object. */
static const struct node *list_items(const struct object *object)
{
	const struct node *items = NULL;

	if (text_ends(object->kind, "List"))
		items = node_get(object->root, "items");
	else if (text_eq(object->kind, "Template") &&
		 text_starts(object->api_version, "template.openshift.io/"))
		items = node_get(object->root, "objects");
	return node_is_seq(items) ? items : NULL;
}

/* Sets apiVersion and kind of an item, which it may omit if the type of the
 * list implies them. */
static void item_identity(struct object_reader *reader,
			  const struct object *list, struct object *item)
{
	size_t len = strlen(list->kind) - 4;

	if (item->kind || item->api_version || !len ||
	    strcmp(list->kind + len, "List") != 0)
		return;
	item->api_version = list->api_version;
	item->kind = arena_strndup(reader->arena, list->kind, len);
}

static void read_node(struct object_reader *reader, const struct doc *doc,
		      const struct node *root, const struct object *list,
		      struct object_list *out)
{
	const struct node *items;
	struct object object;

	if (!node_is_map(root))
		return;
	identify(&object, doc, root);
	if (list)
		item_identity(reader, list, &object);
	if (!object.api_version || !object.kind)
		return;
	/* Skip a snapshot, which may be stored next to manifests. */
	if (!strcmp(object.kind, "ClusterSnapshot") &&
	    text_starts(object.api_version, "gpugate.dev/"))
		return;
	items = list_items(&object);
	if (items) {
		if (list && reader->nested_list && !*reader->nested_list &&
		    text_ends(list->kind, "List") &&
		    text_ends(object.kind, "List"))
			*reader->nested_list = root;
		FOR_EACH_CHILD(items, item)
			read_node(reader, doc, item, &object, out);
		return;
	}
	if (reader->arena->budget)
		load_budget_object(reader->arena->budget);
	object_fill(reader, &object);
	object.costly = reader->arena->budget && reader->arena->budget->over;
	*VEC_PUSH(reader->arena, out->items, out->n, out->size) = object;
}

void object_read(struct arena *arena, const struct kube_config *config,
		 const struct doc *doc, struct object_list *out,
		 const struct node **nested_list)
{
	struct object_reader reader = {
		.arena = arena, .config = config, .nested_list = nested_list};
	const struct object *before = out->items;
	size_t first = out->n;

	if (nested_list)
		*nested_list = NULL;
	read_node(&reader, doc, doc->root, NULL, out);
	/* If the array has moved, pointers to earlier objects must be set
	 * again. */
	if (out->items != before)
		first = 0;
	for (size_t i = first; i < out->n; i++)
		object_link(&out->items[i]);
}
