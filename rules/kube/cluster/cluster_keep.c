/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Removes objects that are missing in a new list of a kind. The other objects
 * stay unchanged, so that a list without changes costs little and snapshots
 * continue to share them.
 */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/escape.h"
#include "base/text.h"
#include "cluster_internal.h"

struct keys {
	const uint64_t *items; /* sorted keys of the objects in the list */
	size_t n;
};

static int by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static bool has_key(const struct keys *keys, uint64_t key)
{
	return keys->n && bsearch(&key, keys->items, keys->n,
				  sizeof(*keys->items), by_number);
}

static uint64_t record_key(struct cluster_builder *b,
			   const struct record_at *at)
{
	buf_reset(&b->id);
	put_number(&b->id, at->kind);
	put_text(&b->id, at->namespace);
	put_text(&b->id, at->name);
	return text_keyed_hash(b->id.data, b->id.len);
}

uint64_t cluster_builder_key(struct cluster_builder *b, enum cluster_kind kind,
			     const struct object_id *id)
{
	struct record_at at;

	if (kind == CLUSTER_NODE)
		return cluster_node_key(id->name);
	if (kind >= CLUSTER_POD)
		return cluster_id_key(b, id);
	at = cluster_record_at(&b->scratch, kind, id);
	return record_key(b, &at);
}

static void drop_table(void *table)
{
	table_release(table);
}

/* --- records -------------------------------------------------------------- */

/* Removes the records of the kind whose keys are not in the list from the blob.
 * Returns their number. */
static size_t strip_blob(struct cluster_builder *b, const struct blob *blob,
			 enum cluster_kind kind, const struct keys *keys)
{
	struct byte_cursor c = {blob->data, blob->data + blob->len,
				b->state.names};
	struct record_at at = {kind, take_text(&c), NULL};
	struct cluster_record record;
	size_t stripped = 0, bytes = 0;

	buf_reset(&b->packed);
	put_text(&b->packed, at.namespace);
	while (record_next(&c, &record)) {
		at.name = record.name;
		if (record.kind == kind && !has_key(keys, record_key(b, &at))) {
			stripped++;
			bytes += (size_t)(c.at - record.start);
		} else {
			buf_add(&b->packed, record.start,
				(size_t)(c.at - record.start));
		}
	}
	b->state.counts[kind] -= stripped;
	if (cluster_kind_is_runtime(kind))
		b->runtime_bytes -= bytes;
	if (!stripped)
		return 0;
	if (b->packed.len == strlen(b->packed.data) + 1)
		table_remove(&b->state.namespaces, blob->key);
	else
		table_put(&b->state.namespaces, blob->key, b->packed.data,
			  b->packed.len);
	return stripped;
}

static size_t keep_records(struct cluster_builder *b, enum cluster_kind kind,
			   const struct keys *keys)
{
	struct escape_guard guard;
	struct hash_table before;
	const struct blob *blob;
	size_t cursor = 0, gone = 0;

	/* Iterate over a copy of the table, because removing an entry moves
	 * others in its shard. */
	table_share(&before, &b->state.namespaces);
	escape_guard(&guard, drop_table, &before);
	while ((blob = table_next(&before, &cursor)))
		gone += strip_blob(b, blob, kind, keys);
	escape_unguard(&guard);
	table_release(&before);
	return gone;
}

/* --- pods, nodes, owners -------------------------------------------------- */

static size_t keep_rows(struct cluster_builder *b, struct hash_table *table,
			int (*remove)(struct cluster_builder *, uint64_t),
			const struct keys *keys)
{
	struct escape_guard guard;
	struct hash_table before;
	const struct blob *blob;
	size_t cursor = 0, gone = 0;

	table_share(&before, table);
	escape_guard(&guard, drop_table, &before);
	while ((blob = table_next(&before, &cursor)))
		if (!has_key(keys, blob->key))
			gone += remove(b, blob->key) > 0;
	escape_unguard(&guard);
	table_release(&before);
	arena_reset(&b->scratch);
	return gone;
}

size_t cluster_builder_keep(struct cluster_builder *b, enum cluster_kind kind,
			    uint64_t *list, size_t n)
{
	struct keys keys = {list, n};

	if (n)
		qsort(list, n, sizeof(*list), by_number);
	if (kind == CLUSTER_POD)
		return keep_rows(b, &b->pods, cluster_remove_pod, &keys);
	if (kind == CLUSTER_NODE)
		return keep_rows(b, &b->node_names, cluster_remove_node, &keys);
	return keep_records(b, kind, &keys);
}

void cluster_builder_clear(struct cluster_builder *b, enum cluster_kind kind)
{
	if (kind == CLUSTER_POD) {
		table_release(&b->pods);
		table_release(&b->state.usage);
		b->state.counts[CLUSTER_POD] = 0;
	} else if (kind < CLUSTER_POD) {
		cluster_builder_keep(b, kind, NULL, 0);
	}
}
