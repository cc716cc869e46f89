/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the facts of policy objects: amounts and scopes of a ResourceQuota,
 * default limits and requests of a LimitRange, the value of a PriorityClass and
 * whether it is the default. Hashes their content. Duplicate workloads count
 * once, but duplicate policy objects are merged only if their content is equal
 * as well. So copies in thousands of files cost little, and different versions
 * are all checked.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "index_internal.h"
#include "kube/object.h"

static struct resource_amount *amounts_read(struct arena *arena,
					    const struct object *o,
					    const struct node *map,
					    uint32_t file, size_t *n)
{
	struct resource_amount *items =
		ARENA_ARRAY(arena, struct resource_amount, node_count(map));

	*n = 0;
	FOR_EACH_CHILD(map, entry) {
		struct resource_amount *item = &items[*n];
		enum quantity_state state =
			node_quantity(entry, &item->quantity);

		if (state == QUANTITY_ABSENT || state == QUANTITY_INVALID)
			continue;
		item->unknown = state == QUANTITY_UNKNOWN;
		if (item->unknown)
			item->quantity = quantity_from(0);
		item->resource = index_text(arena, entry->key);
		item->place = place_of(arena, o, entry, file);
		(*n)++;
	}
	return items;
}

static void scope_add(struct arena *arena, const struct object *o,
		      const struct node *node, uint32_t file,
		      struct quota_scope *scope)
{
	const struct node *values = node_get(node, "values");
	const char **texts;

	scope->place = place_of(arena, o, node, file);
	scope->operator= "Exists";
	if (!node_is_map(node)) {
		scope->name = index_text(arena, node_str(node));
		return;
	}
	scope->name = index_text(arena, node_str(node_get(node, "scopeName")));
	scope->operator=
		index_text(arena, node_str(node_get(node, "operator")));
	texts = ARENA_ARRAY(arena, const char *, node_count(values) + 1);
	FOR_EACH_CHILD(values, value)
		texts[scope->nvalues++] = index_text(arena, node_str(value));
	scope->values = texts;
}

void quota_read(struct arena *arena, const struct object *o, uint32_t file,
		struct quota *out)
{
	const struct node *scopes = node_path(o->root, "spec.scopes");
	const struct node *selector =
		node_path(o->root, "spec.scopeSelector.matchExpressions");

	*out = (struct quota){.id = index_id(arena, o)};
	out->place = place_of(arena, o, index_name_node(o), file);
	out->hard = amounts_read(arena, o, node_path(o->root, "spec.hard"),
				 file, &out->nhard);
	out->used = amounts_read(arena, o, node_path(o->root, "status.used"),
				 file, &out->nused);
	out->scopes = ARENA_ARRAY(arena, struct quota_scope,
				  node_count(scopes) + node_count(selector));
	FOR_EACH_CHILD(scopes, scope)
		scope_add(arena, o, scope, file, &out->scopes[out->nscopes++]);
	FOR_EACH_CHILD(selector, scope)
		scope_add(arena, o, scope, file, &out->scopes[out->nscopes++]);
}

static void add_keys(struct arena *arena, const struct node *map,
		     const char **names, size_t *n)
{
	FOR_EACH_CHILD(map, entry)
		names[(*n)++] = index_text(arena, entry->key);
}

static size_t count_keys(const struct node *items, const char *list)
{
	size_t n = 0;

	FOR_EACH_CHILD(items, item)
		n += node_count(node_get(item, list));
	return n;
}

void limit_range_read(struct arena *arena, const struct object *o,
		      uint32_t file, struct limit_range *out)
{
	const struct node *items = node_path(o->root, "spec.limits");
	size_t max = count_keys(items, "max");
	const char **limits = ARENA_ARRAY(arena, const char *,
					  count_keys(items, "default") + max);
	const char **requests = ARENA_ARRAY(
		arena, const char *,
		count_keys(items, "defaultRequest") + count_keys(items, "min"));

	*out = (struct limit_range){.id = index_id(arena, o)};
	out->place = place_of(arena, o, index_name_node(o), file);
	out->defaults = limits;
	out->default_requests = requests;
	FOR_EACH_CHILD(items, item) {
		if (!node_eq(node_get(item, "type"), "Container"))
			continue;
		add_keys(arena, node_get(item, "default"), limits,
			 &out->ndefaults);
		/* SetDefaults_LimitRangeItem: max is the default. */
		add_keys(arena, node_get(item, "max"), limits, &out->ndefaults);
		add_keys(arena, node_get(item, "defaultRequest"), requests,
			 &out->ndefault_requests);
		/* Without another default, min is the default request. */
		add_keys(arena, node_get(item, "min"), requests,
			 &out->ndefault_requests);
	}
}

void priority_class_read(struct arena *arena, const struct object *o,
			 uint32_t file, struct priority_class *out)
{
	const struct node *value = node_get(o->root, "value");
	const struct node *global = node_get(o->root, "globalDefault");
	const struct node *name = index_name_node(o);

	*out = (struct priority_class){.id = index_id(arena, o)};
	out->place = place_of(arena, o, name, file);
	out->value_place = place_of(arena, o, value ? value : name, file);
	out->value.unknown = node_is_unknown(value);
	if (!node_int(value, &out->value.n))
		out->value.n = 0;
	out->global_default = node_is_true(global);
	out->default_place = place_of(arena, o, global ? global : name, file);
	out->never_preempts =
		node_eq(node_get(o->root, "preemptionPolicy"), "Never");
}

/* --- content -------------------------------------------------------------- */

/* Adds a tree as bytes. Types and lengths precede texts, so that different
 * trees give different bytes. */
static void add_tree(struct buf *out, const struct node *node)
{
	char type[2] = {(char)node->type, (char)(node->flags & NODE_UNKNOWN)};
	const struct node **sorted;

	buf_add(out, type, sizeof(type));
	buf_add(out, &node->len, sizeof(node->len));
	if (!node_first(node) && node->str)
		buf_add(out, node->str, node->len);
	if (!node_is_map(node))
		FOR_EACH_CHILD(node, child)
			add_tree(out, child);
	sorted = node_by_key(node);
	for (uint32_t i = 0; sorted && i < node->len; i++) {
		identity_part(out, sorted[i]->key, sorted[i]->key_len);
		add_tree(out, sorted[i]);
	}
	free(sorted);
}

/* Adds the keys of the map, or with `values` its keys and values except for
 * metadata. */
static void add_fields(struct buf *out, const struct node *map, bool values)
{
	const struct node **sorted = node_by_key(map);

	for (uint32_t i = 0; sorted && i < map->len; i++) {
		const struct node *field = sorted[i];

		if (values && !strcmp(field->key, "metadata"))
			continue;
		identity_part(out, field->key, field->key_len);
		if (values)
			add_tree(out, field);
	}
	free(sorted);
}

/* Adds the content of an object. A quota without a known namespace applies to
 * no workload, so that only its existence and its keys are checked. */
static void add_content(struct buf *out, const struct object *o,
			struct object_id *id)
{
	bool quota = !strcmp(id->kind, "ResourceQuota");

	if (quota && !*id->namespace) {
		id->name = "";
		add_fields(out, node_path(o->root, "spec.hard"), false);
	} else {
		add_fields(out, o->root, true);
	}
	identity_add(out, id);
}

static uint64_t content_hash(struct workload_index *index,
			     const struct object *o)
{
	struct object_id id = index_id(&index->scratch, o);
	uint64_t hash;

	buf_reset(&index->identity);
	add_content(&index->identity, o, &id);
	hash = identity_hash_of(&index->identity);
	arena_reset(&index->scratch);
	return hash;
}

uint64_t index_content(struct object_index *set, const struct object *o)
{
	return index_hash_in(content_hash(workload_index_of(set), o),
			     set->cluster);
}
