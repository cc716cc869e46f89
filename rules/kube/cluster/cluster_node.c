/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stores nodes in groups: nodes that are equal for every pod are one group, so
 * that 10,000 nodes take little memory. A node is stored without labels that
 * differ on every node (its hostname, values equal to its name, timestamps) and
 * without temporary taints (node.kubernetes.io/...); its memory is rounded down
 * to GiB.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/err.h"
#include "base/escape.h"
#include "base/text.h"
#include "cluster_internal.h"
#include "doc/build.h"

#define GIB ((int64_t)1 << 30)

/* --- contents of a group -------------------------------------------------- */

/* True for a label that differs on every node: the hostname, a value equal to
 * the name of the node, a timestamp. */
static bool is_individual(const struct node *label, const char *name)
{
	return text_contains(label->key, "kubernetes.io/hostname") ||
	       text_eq(node_str(label), name) ||
	       text_ends(label->key, ".timestamp");
}

/* Returns the labels of a node without individual ones, whose keys are added to
 * `individual`. */
static struct node *labels_of(struct arena *arena, const struct node *from,
			      const char *name, struct node *individual)
{
	struct node *labels = node_new(arena, NODE_MAP);
	const struct node **items = node_by_key(from);
	struct escape_guard guard;

	escape_guard(&guard, free, items);
	for (size_t i = 0; items && i < from->len; i++) {
		const char *text = node_str(items[i]);

		if (is_individual(items[i], name))
			edit_member(arena, individual, items[i]->key,
				    node_new(arena, NODE_NULL));
		else if (text)
			edit_member_string(arena, labels, items[i]->key, text);
	}
	escape_unguard(&guard);
	free(items);
	return labels;
}

static struct node *taints_of(struct arena *arena, const struct node *from)
{
	struct node *taints = node_new(arena, NODE_SEQ);

	FOR_EACH_CHILD(from, taint) {
		uint32_t budget = 100;
		struct node *copy;

		if (text_starts(node_str(node_get(taint, "key")),
				"node.kubernetes.io/"))
			continue;
		copy = node_copy(arena, taint, 0, &budget);
		if (copy)
			node_append(taints, copy);
	}
	return taints;
}

static struct node *allocatable_of(struct arena *arena, const struct node *from)
{
	struct node *out = node_new(arena, NODE_MAP);
	const struct node **items = node_by_key(from);
	struct escape_guard guard;

	escape_guard(&guard, free, items);
	for (size_t i = 0; items && i < from->len; i++) {
		const char *key = items[i]->key;
		char text[QUANTITY_TEXT];
		struct quantity q;

		if ((strcmp(key, "cpu") != 0 && strcmp(key, "memory") != 0 &&
		     !strchr(key, '/')) ||
		    node_quantity(items[i], &q) != QUANTITY_OK)
			continue;
		if (!strcmp(key, "memory"))
			q = (struct quantity){
				quantity_from(quantity_value(q) / GIB * GIB)
					.nano,
				QUANTITY_BINARY};
		edit_member_string(arena, out, key, quantity_text(q, text));
	}
	escape_unguard(&guard);
	free(items);
	return out;
}

/* Returns the tree {labels, individual, taints, allocatable} of a node's
 * group. */
static struct node *group_tree(struct cluster_builder *b, const char *name,
			       const struct node *node)
{
	struct arena *arena = &b->scratch;
	struct node *tree = node_new(arena, NODE_MAP);
	struct node *individual = node_new(arena, NODE_MAP);

	edit_member(arena, tree, "labels",
		    labels_of(arena, node_path(node, "metadata.labels"), name,
			      individual));
	edit_member(arena, tree, "individual", individual);
	edit_member(arena, tree, "taints",
		    taints_of(arena, node_path(node, "spec.taints")));
	edit_member(
		arena, tree, "allocatable",
		allocatable_of(arena, node_path(node, "status.allocatable")));
	return tree;
}

/* --- groups and names ----------------------------------------------------- */

struct node_row {
	uint64_t group, count;
};

/* Adds change to the number of nodes in the group with that key; removes the
 * group with its last node. A new group gets this name and tree; the tree may
 * be NULL. */
static void count_group(struct cluster_builder *b, uint64_t key,
			const char *name, struct buf *tree, int64_t change)
{
	const struct blob *blob = table_find(&b->node_groups, key);
	struct byte_cursor c = {NULL, NULL, b->state.names};
	uint64_t count = 0;

	if (blob) {
		c.at = blob->data;
		c.end = blob->data + blob->len;
		count = take_number(&c);
		name = take_text(&c);
	}
	count += (uint64_t)change;
	b->nodes_changed = true;
	b->state.counts[CLUSTER_NODE] += (size_t)change;
	if (!count) {
		table_remove(&b->node_groups, key);
		return;
	}
	buf_reset(&b->packed);
	put_number(&b->packed, count);
	put_text(&b->packed, name);
	if (blob)
		buf_add(&b->packed, c.at, (size_t)(c.end - c.at));
	else if (tree)
		buf_add(&b->packed, tree->data, tree->len);
	table_put(&b->node_groups, key, b->packed.data, b->packed.len);
}

static uint64_t key_of(const void *data, size_t len)
{
	uint64_t key = text_keyed_hash(data, len);

	return key ? key : 1;
}

uint64_t cluster_node_key(const char *name)
{
	return key_of(name, strlen(name));
}

int cluster_remove_node(struct cluster_builder *b, uint64_t key)
{
	const struct blob *blob = table_find(&b->node_names, key);
	struct node_row row;

	if (!blob)
		return 0;
	memcpy(&row, blob->data, sizeof(row));
	table_remove(&b->node_names, key);
	count_group(b, row.group, "", NULL, -(int64_t)row.count);
	return 1;
}

int cluster_add_node(struct cluster_builder *b, const char *name,
		     const struct node *trimmed, uint64_t count)
{
	uint64_t key = cluster_node_key(name);
	const struct blob *blob = table_find(&b->node_names, key);
	struct node_row old = {0, 0}, new = {0, count};

	buf_reset(&b->group);
	put_tree(&b->group, b->state.names, group_tree(b, name, trimmed));
	new.group = key_of(b->group.data, b->group.len);
	if (blob)
		memcpy(&old, blob->data, sizeof(old));
	if (memcmp(&old, &new, sizeof(old)) != 0) {
		cluster_remove_node(b, key);
		count_group(b, new.group, name, &b->group, (int64_t)count);
		table_put(&b->node_names, key, &new, sizeof(new));
	}
	return memcmp(&old, &new, sizeof(old)) != 0;
}

/* --- for snapshots -------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct node_group *)a)->name,
		      ((const struct node_group *)b)->name);
}

static void add_individual(struct node_groups *groups, const struct node *keys,
			   size_t *n)
{
	const char **list = (const char **)(uintptr_t)groups->individual;

	FOR_EACH_CHILD(keys, key) {
		bool known = false;

		for (size_t i = 0; i < *n; i++)
			known |= !strcmp(list[i], key->key);
		if (known || *n == 63)
			continue;
		list[(*n)++] = key->key;
	}
}

void node_groups_put(struct node_groups *groups)
{
	if (!groups || atomic_fetch_sub_explicit(&groups->refs, 1,
						 memory_order_acq_rel) != 1)
		return;
	arena_release(&groups->arena);
	free(groups);
}

static void drop_groups(void *groups)
{
	node_groups_put(groups);
}

struct node_groups *node_groups_make(const struct hash_table *table,
				     const struct name_table *names)
{
	struct node_groups *groups = array_zalloc(1, sizeof(*groups));
	struct escape_guard guard;
	const struct blob *blob;
	size_t cursor = 0, individual = 0;

	atomic_init(&groups->refs, 1);
	escape_guard(&guard, drop_groups, groups);
	groups->items =
		ARENA_ARRAY(&groups->arena, struct node_group, table->n + 1);
	groups->individual = ARENA_ARRAY(&groups->arena, const char *, 64);
	while ((blob = table_next(table, &cursor))) {
		struct byte_cursor c = {blob->data, blob->data + blob->len,
					names};
		struct node_group *group = &groups->items[groups->n++];
		const struct node *tree;

		group->count = take_number(&c);
		group->name = arena_strdup(&groups->arena, take_text(&c));
		tree = take_tree(&c, &groups->arena);
		group->labels = node_get(tree, "labels");
		group->taints = node_get(tree, "taints");
		group->allocatable = node_get(tree, "allocatable");
		add_individual(groups, node_get(tree, "individual"),
			       &individual);
	}
	escape_unguard(&guard);
	qsort(groups->items, groups->n, sizeof(*groups->items), by_name);
	return groups;
}
