/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds queues, runtime classes, volume claims and other named objects of a
 * set. The fields that a snapshot would store are kept in memory and sorted
 * when the set is finished. Objects other than volume claims, disruption
 * budgets and network policies are also found in other sets, because files next
 * to the clusters' folders define objects for all clusters.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/err.h"
#include "base/text.h"
#include "index_internal.h"
#include "kube/set/index_find.h"

/* Largest number of objects among which one of another namespace is sought. */
enum { ELSEWHERE = 1000 };

static bool is_referred(enum cluster_kind kind)
{
	return kind == CLUSTER_LOCAL_QUEUE || kind == CLUSTER_QUEUE ||
	       kind == CLUSTER_FLAVOR || kind == CLUSTER_TOPOLOGY ||
	       kind == CLUSTER_VOLCANO_QUEUE || kind == CLUSTER_KAI_QUEUE ||
	       kind == CLUSTER_DEVICE_CLASS || kind == CLUSTER_RUNTIME_CLASS ||
	       kind == CLUSTER_VOLUME_CLAIM ||
	       kind == CLUSTER_DISRUPTION_BUDGET ||
	       kind == CLUSTER_NETWORK_POLICY || kind == CLUSTER_NAMESPACE ||
	       kind == CLUSTER_NODE_POOL;
}

/* True for kinds that files next to the clusters' folders may define for all
 * clusters. */
static bool is_shared(enum cluster_kind kind)
{
	return kind != CLUSTER_VOLUME_CLAIM &&
	       kind != CLUSTER_DISRUPTION_BUDGET &&
	       kind != CLUSTER_NETWORK_POLICY;
}

/* Returns the node of the object that rules report, or else that of its
 * name. */
static const struct node *fact_of(enum cluster_kind kind,
				  const struct object *o)
{
	const struct node *fact = NULL;

	if (kind == CLUSTER_VOLUME_CLAIM)
		fact = node_path(o->root, "spec.accessModes");
	if (kind == CLUSTER_DISRUPTION_BUDGET)
		fact = node_path(o->root, "spec.maxUnavailable");
	if (kind == CLUSTER_DISRUPTION_BUDGET && !fact)
		fact = node_path(o->root, "spec.minAvailable");
	if (kind == CLUSTER_NETWORK_POLICY)
		fact = node_path(o->root, "spec.podSelector");
	return fact ? fact : index_name_node(o);
}

void index_keep_texts(struct arena *arena, struct node *node)
{
	if (node->key)
		node->key = arena_strndup(arena, node->key, node->key_len);
	if (node->str)
		node->str = arena_strndup(arena, node->str, node->len);
	for (struct node *child = node->first; child; child = child->next)
		index_keep_texts(arena, child);
}

static const struct node *kept(struct arena *arena, enum cluster_kind kind,
			       const struct object *o)
{
	struct err err;
	struct node *root = cluster_trim(arena, kind, o->root, &err);

	if (root)
		index_keep_texts(arena, root);
	return root;
}

bool index_add_named(struct object_index *set, const struct object *o,
		     uint32_t file, struct kept_object *out)
{
	enum cluster_kind kind = cluster_kind_of(o->api_version, o->kind);

	if (!is_referred(kind))
		return false;
	*out = (struct kept_object){
		.kind = kind,
		.api_version = index_text(&set->arena, o->api_version),
		.cluster = set->cluster,
		.place = place_of(&set->arena, o, fact_of(kind, o), file),
		.namespace = index_text(&set->arena, o->namespace),
		.name = index_text(&set->arena, o->name)};
	if (!o->fragment)
		out->root = kept(&set->arena, kind, o);
	if (!cluster_kind_is_namespaced(kind))
		out->namespace = "";
	return true;
}

static int by_name(const void *a, const void *b)
{
	const struct kept_object *x = a, *y = b;
	int order = (x->kind > y->kind) - (x->kind < y->kind);

	if (!order)
		order = strcmp(x->namespace, y->namespace);
	return order ? order : strcmp(x->name, y->name);
}

void index_sort_named(struct object_index *set)
{
	if (set->nnamed)
		qsort(set->named, set->nnamed, sizeof(*set->named), by_name);
}

/* The definition of one object in files. If several differ, it is ambiguous. */
struct definition {
	bool found, ambiguous;
	const struct node *root;
	const struct place *place; /* of the first definition */
};

static bool is_before(const struct place *a, const struct place *b)
{
	return a->file != b->file ? a->file < b->file : a->start < b->start;
}

static void define(struct definition *def, const struct kept_object *o)
{
	def->ambiguous |= !o->root || (def->found && !def->ambiguous &&
				       !node_same(def->root, o->root));
	def->root = def->ambiguous ? NULL : o->root;
	if (!def->found || is_before(&o->place, def->place))
		def->place = &o->place;
	def->found = true;
}

/* Returns the index of the first item that does not come before `want`. */
static size_t first_of(const struct object_index *set,
		       const struct kept_object *want)
{
	return array_first(set->named, set->nnamed, sizeof(*set->named), want,
			   by_name);
}

/* Searches the workload's own set, then any other set, except for kinds that
 * are separate in each set. */
static struct definition find_definition(const struct object_index *set,
					 const struct workload *w,
					 const struct kept_object *want)
{
	struct definition own = {0}, any = {0};
	size_t low = first_of(set, want);

	for (; low < set->nnamed && !by_name(&set->named[low], want); low++) {
		const struct kept_object *o = &set->named[low];

		if (o->cluster != w->cluster)
			continue;
		define(&any, o);
		if (o->set == index_set_of(set, w))
			define(&own, o);
	}
	return own.found || !is_shared(want->kind) ? own : any;
}

static const char *namespace_of(const struct workload *w,
				enum cluster_kind kind)
{
	return cluster_kind_is_namespaced(kind) ? w->id.namespace : "";
}

static const struct node *named_there(const struct workload *w,
				      enum cluster_kind kind, const char *name,
				      struct arena *arena)
{
	const struct cluster_resource *r = cluster_resource(kind);
	const struct object_id id = {arena_printf(arena, "%s/v1", r->group),
				     r->kind, namespace_of(w, kind), name};

	return cluster_object(w->cluster, &id, arena);
}

const struct found_object *index_find(const struct object_index *set,
				      const struct workload *w,
				      enum cluster_kind kind, const char *name,
				      struct arena *arena)
{
	struct kept_object want = {
		.kind = kind, .name = name, .namespace = namespace_of(w, kind)};
	struct definition own = find_definition(set, w, &want);
	const struct node *there = NULL;
	struct found_object *out;

	if (!own.found && *want.namespace) {
		/* The namespace is chosen when the files are applied. */
		want.namespace = "";
		own = find_definition(set, w, &want);
	}
	if (w->cluster)
		there = named_there(w, kind, name, arena);
	if (!own.found && !there)
		return NULL;
	out = ARENA_NEW(arena, struct found_object);
	*out = (struct found_object){.name = name,
				     .root = own.found ? own.root : there,
				     .status = node_get(there, "status"),
				     .in_set = own.found,
				     .place = {.file = NO_FILE, .pointer = ""}};
	if (own.found)
		out->place = *own.place;
	return out;
}

static bool is_named(const struct object_index *set, const struct workload *w,
		     const struct kept_object *want)
{
	size_t i = first_of(set, want);

	for (; i < set->nnamed && !by_name(&set->named[i], want); i++)
		if (set->named[i].cluster == w->cluster)
			return true;
	return false;
}

/* Returns the end of the objects of that kind and namespace. No name contains
 * the byte 0xff. */
static size_t end_of(const struct object_index *set, struct kept_object want)
{
	want.name = "\377";
	return first_of(set, &want);
}

static size_t count_of(const struct object_index *set,
		       const struct kept_object *want)
{
	return end_of(set, *want) - first_of(set, want);
}

/* Adds the objects of one namespace, sorted by name, except for names that the
 * namespace of `others` (may be NULL) has as well. An object of the workload's
 * own set replaces one of the same name in another set. */
static size_t add_named(const struct object_index *set,
			const struct workload *w,
			const struct kept_object *want,
			struct kept_object *others, struct found_object *items)
{
	size_t n = 0, end = end_of(set, *want);
	uint32_t own = index_set_of(set, w), last = own;

	for (size_t i = first_of(set, want); i < end; i++) {
		const struct kept_object *o = &set->named[i];
		bool again = n && !strcmp(items[n - 1].name, o->name);

		if (o->cluster != w->cluster ||
		    (again && (last == own || o->set != own)))
			continue;
		if (others)
			others->name = o->name;
		if (others && is_named(set, w, others))
			continue;
		n += !again;
		last = o->set;
		items[n - 1] = (struct found_object){.name = o->name,
						     .root = o->root,
						     .in_set = true,
						     .place = o->place};
	}
	return n;
}

const struct found_object *index_find_all(const struct object_index *set,
					  const struct workload *w,
					  enum cluster_kind kind,
					  struct arena *arena, size_t *n)
{
	const char *namespace = namespace_of(w, kind);
	struct kept_object any = {.kind = kind, .namespace = "", .name = ""};
	struct kept_object own = {
		.kind = kind, .namespace = namespace, .name = ""};
	const struct cluster_object *there = NULL;
	struct found_object *items;
	size_t count = 0;

	if (w->cluster)
		there = cluster_objects(w->cluster, kind, namespace, arena,
					&count);
	items = ARENA_ARRAY(arena, struct found_object,
			    count + count_of(set, &any) + count_of(set, &own) +
				    1);
	*n = add_named(set, w, &any, NULL, items);
	if (*namespace)
		*n += add_named(set, w, &own, &any, items + *n);
	for (size_t i = 0; i < count; i++) {
		any.name = own.name = there[i].name;
		if (!is_named(set, w, &any) && !is_named(set, w, &own))
			items[(*n)++] = (struct found_object){
				.name = there[i].name,
				.root = there[i].root,
				.place = {.file = NO_FILE, .pointer = ""}};
	}
	return items;
}

const char *index_nearest(const struct object_index *set,
			  const struct workload *w, enum cluster_kind kind,
			  const char *name, struct arena *arena)
{
	const struct kept_object own = {
		.kind = kind, .namespace = namespace_of(w, kind), .name = ""};
	struct arena scratch = {0};
	const struct found_object *all;
	const char *names[TEXT_NEAREST_MAX], *near = NULL;
	size_t n;

	if (count_of(set, &own) > TEXT_NEAREST_MAX)
		return NULL;
	all = index_find_all(set, w, kind, &scratch, &n);
	for (size_t i = 0; n <= TEXT_NEAREST_MAX && i < n; i++)
		names[i] = all[i].name;
	near = text_nearest(name, names, n);
	if (near)
		near = arena_strdup(arena, near);
	arena_release(&scratch);
	return near;
}

const char *index_elsewhere(const struct object_index *set,
			    const struct workload *w, enum cluster_kind kind,
			    const char *name, struct place *place)
{
	const struct kept_object first = {
		.kind = kind, .namespace = "", .name = ""};
	const char *namespace = NULL;

	for (size_t i = first_of(set, &first), n = 0;
	     i < set->nnamed && set->named[i].kind == (unsigned)kind;
	     i++, n++) {
		const struct kept_object *o = &set->named[i];

		if (n == ELSEWHERE)
			return NULL;
		if (o->place.file != w->place.file || strcmp(o->name, name))
			continue;
		if (!*o->namespace || text_eq(o->namespace, w->id.namespace))
			return NULL;
		namespace = o->namespace;
		*place = o->place;
	}
	return namespace;
}

/* Largest number of objects that are compared with each workload. */
enum { SELECTING = 500 };

/*
 * Definitions of one object: `sure` if it certainly is in the workload's
 * namespace, `maybe` if it may be.
 */
struct selecting {
	struct definition sure, maybe;
};

static void define_selecting(const struct object_index *set,
			     const struct workload *w,
			     const struct kept_object *o, struct selecting *out)
{
	bool sure = *o->namespace ||
		    (!*w->id.namespace && o->place.file == w->place.file);

	if (o->cluster == w->cluster && o->set == index_set_of(set, w))
		define(sure ? &out->sure : &out->maybe, o);
}

/* Adds the objects of files in a namespace, sorted by name. */
static size_t add_selecting(const struct object_index *set,
			    const struct workload *w,
			    const struct kept_object *want,
			    struct found_object *items)
{
	size_t n = 0, i = first_of(set, want), end = end_of(set, *want);

	while (i < end) {
		struct selecting found = {.sure = {.found = false}};
		const struct kept_object *first = &set->named[i];
		const struct definition *def;

		for (; i < end && !by_name(&set->named[i], first); i++)
			define_selecting(set, w, &set->named[i], &found);
		def = found.sure.found ? &found.sure : &found.maybe;
		if (def->found)
			items[n++] = (struct found_object){
				.name = first->name,
				.api_version = first->api_version,
				.root = def->root,
				.in_set = true,
				.maybe = !found.sure.found,
				.place = *def->place,
				.at = (size_t)(first - set->named)};
	}
	return n;
}

const struct found_object *index_selecting(const struct object_index *set,
					   const struct workload *w,
					   enum cluster_kind kind,
					   struct arena *arena, size_t *n)
{
	struct kept_object want = {
		.kind = kind, .namespace = w->id.namespace, .name = ""};
	const struct cluster_object *there = NULL;
	const struct kept_object none = {
		.kind = kind, .namespace = "", .name = ""};
	struct found_object *items;
	size_t count = 0, count_all;

	if (w->cluster && *w->id.namespace)
		there = cluster_objects(w->cluster, kind, w->id.namespace,
					arena, &count);
	*n = 0;
	count_all = count + count_of(set, &want) + count_of(set, &none);
	if (count_all > SELECTING)
		return NULL;
	items = ARENA_ARRAY(arena, struct found_object, count_all + 1);
	*n = add_selecting(set, w, &none, items);
	if (*w->id.namespace)
		*n += add_selecting(set, w, &want, items + *n);
	for (size_t i = 0; i < count; i++) {
		want.name = there[i].name;
		if (!find_definition(set, w, &want).found)
			items[(*n)++] = (struct found_object){
				.name = there[i].name,
				.root = there[i].root,
				.place = {.file = NO_FILE, .pointer = ""}};
	}
	return items;
}

bool index_keeps(const struct object_index *set, enum cluster_kind kind)
{
	const struct kept_object want = {
		.kind = kind, .namespace = "", .name = ""};
	size_t at = first_of(set, &want);

	return at < set->nnamed && set->named[at].kind == kind;
}

bool index_lists(const struct object_index *set, const struct workload *w,
		 enum cluster_kind kind)
{
	const char *const namespaces[] = {"", namespace_of(w, kind)};
	bool any = false;

	for (int i = 0; i <= (*namespaces[1] != '\0'); i++) {
		const struct kept_object want = {
			.kind = kind, .namespace = namespaces[i], .name = ""};
		size_t at = first_of(set, &want), end = end_of(set, want);

		while (at < end && set->named[at].cluster != w->cluster)
			at++;
		/* An unknown name comes first. */
		if (at < end && !*set->named[at].name)
			return false;
		any |= at < end;
	}
	return any;
}
