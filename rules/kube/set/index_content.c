/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hashes the content of policy objects. If workloads are duplicates, only the
 * first counts; but duplicate policy objects are merged only if their content
 * is equal as well. So copies in thousands of files cost little, and different
 * versions are all checked.
 */
#include <stdlib.h>
#include <string.h>

#include "index_internal.h"
#include "kube/identity.h"

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
