/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which objects are the same. Identity is (group, kind, namespace, name),
 * whatever the version; of workloads that share one the first counts. Policy
 * objects are one when they also say the same: copies in thousands of files
 * cost nothing then, while two that differ are both looked at.
 *
 * Hashes are taken for what they stand for: 64 bits under a key that nobody
 * knows do not meet by chance in any set that can be linted.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "fact.h"

static void add_part(struct buf *out, const char *text, size_t len)
{
	buf_add(out, text, len);
	buf_addc(out, '\0');
}

static void add_id(struct buf *out, const struct object_id *id)
{
	const char *slash = strchr(id->api_version, '/');

	add_part(out, id->api_version,
		 slash ? (size_t)(slash - id->api_version) : 0);
	add_part(out, id->kind, strlen(id->kind));
	add_part(out, id->namespace, strlen(id->namespace));
	add_part(out, id->name, strlen(id->name));
}

static uint64_t hash_of(const struct buf *text)
{
	uint64_t hash = text_keyed_hash(text->data, text->len);

	return hash ? hash : 1;
}

uint64_t fact_id_hash(const struct object_id *id, struct buf *scratch)
{
	buf_reset(scratch);
	add_id(scratch, id);
	return hash_of(scratch);
}

/* --- what a policy object says -------------------------------------------- */

/* Types and lengths go before texts: no two trees give the same bytes. */
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
		add_part(out, sorted[i]->key, sorted[i]->key_len);
		add_tree(out, sorted[i]);
	}
	free(sorted);
}

/* Fields of the object, or keys of a quota. */
static void add_fields(struct buf *out, const struct node *map, bool values)
{
	const struct node **sorted = node_by_key(map);

	for (uint32_t i = 0; sorted && i < map->len; i++) {
		const struct node *field = sorted[i];

		if (values && !strcmp(field->key, "metadata"))
			continue;
		add_part(out, field->key, field->key_len);
		if (values)
			add_tree(out, field);
	}
	free(sorted);
}

/* A quota of no known namespace is nobody's: that it is there is all that
 * is asked of it, and which keys it has. */
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
	add_id(out, id);
}

static uint64_t content_hash(struct fact_index *index, const struct object *o)
{
	struct object_id id = fact_id(&index->scratch, o);
	uint64_t hash;

	buf_reset(&index->packed);
	add_content(&index->packed, o, &id);
	hash = hash_of(&index->packed);
	arena_reset(&index->scratch);
	return hash;
}

/* --- seen before? --------------------------------------------------------- */

static void put_seen(uint64_t *table, size_t size, uint64_t hash)
{
	size_t i = hash & (size - 1);

	while (table[i])
		i = (i + 1) & (size - 1);
	table[i] = hash;
}

static bool is_seen(const struct fact_index *index, uint64_t hash)
{
	for (size_t i = hash; index->seen_size; i++) {
		uint64_t there = index->seen[i & (index->seen_size - 1)];

		if (!there || there == hash)
			return there != 0;
	}
	return false;
}

static void grow_seen(struct fact_set *set, struct fact_index *index)
{
	size_t size = index->seen_size ? index->seen_size * 2 : 64;
	uint64_t *table = ARENA_ARRAY(&set->arena, uint64_t, size);

	for (size_t i = 0; i < index->seen_size; i++)
		if (index->seen[i])
			put_seen(table, size, index->seen[i]);
	index->seen = table;
	index->seen_size = size;
}

bool fact_seen(struct fact_set *set, const struct object *o, uint64_t *content)
{
	struct fact_index *index = fact_index_of(set);

	*content = fact_hash_in(content_hash(index, o), set->cluster);
	if (is_seen(index, *content))
		return true;
	if (index->nseen + 1 > index->seen_size / 2)
		grow_seen(set, index);
	put_seen(index->seen, index->seen_size, *content);
	index->nseen++;
	return false;
}
