/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trees under construction. Children are a linked list in the author's order.
 * The first lookup in a map of more than INDEX_ABOVE keys builds a hash index,
 * and later lookups extend it by the keys appended since, so that filling a map
 * is linear.
 */
#include "doc/build.h"

#include <string.h>

#include "base/text.h"
#include "index.h"

struct node *node_new(struct arena *arena, enum node_type type)
{
	struct node *node = arena_alloc(arena, sizeof(*node));

	node_clear(node);
	node->type = (uint8_t)type;
	return node;
}

static void index_reserve(struct arena *arena, struct node_index *index,
			  uint32_t n)
{
	struct node **old = index->slots;
	uint32_t old_size = index->size;

	if (n <= index->size / 2)
		return;
	if (!index->size)
		index->size = 4 * INDEX_ABOVE;
	while (n > index->size / 2)
		index->size *= 2;
	index->slots = ARENA_ARRAY(arena, struct node *, index->size);
	for (uint32_t i = 0; i < old_size; i++)
		if (old[i])
			*index_slot(index, old[i]->key, old[i]->key_len) =
				old[i];
}

static void index_update(struct arena *arena, struct node *map)
{
	struct node_index *index = map->map_index;
	struct node *child;

	if (!index)
		index = map->map_index = ARENA_NEW(arena, struct node_index);
	if (index->indexed == map->last)
		return;
	index_reserve(arena, index, map->len);
	child = index->indexed ? index->indexed->next : map->first;
	for (; child; child = child->next) {
		struct node **slot =
			index_slot(index, child->key, child->key_len);

		/*
		 * If a key occurs twice, the first one is indexed, because a
		 * scan would find it.
		 */
		if (!*slot)
			*slot = child;
	}
	index->indexed = map->last;
}

struct node *node_find(struct arena *arena, struct node *map, const char *key,
		       size_t len)
{
	if (map->type != NODE_MAP)
		return NULL;
	if (map->len > INDEX_ABOVE)
		index_update(arena, map);
	return node_lookup(map, key, len);
}

void node_unlink(struct node *parent, struct node *child)
{
	struct node **link = &parent->first;
	struct node *previous = NULL;
	struct node *node;

	while (*link && *link != child) {
		previous = *link;
		link = &previous->next;
	}
	if (!*link)
		return;
	*link = child->next;
	if (parent->last == child)
		parent->last = previous;
	parent->len--;
	for (node = child->next; node; node = node->next)
		node->index--;
	parent->map_index = NULL; /* node_find() builds it again */
	child->next = NULL;
	child->parent = NULL;
	child->index = 0;
}

void node_take(struct node *node, const struct node *from)
{
	node->type = from->type;
	node->flags = from->flags;
	node->len = from->len;
	node->str = from->str;
	node->first = from->first;
	node->last = from->last;
	node->map_index = from->map_index;
	node->tags = from->tags;
	for (struct node *child = node->first; child; child = child->next)
		child->parent = node;
}

struct node *node_copy(struct arena *arena, const struct node *node,
		       unsigned flag, uint32_t *budget)
{
	struct node *copy;

	if (*budget == 0)
		return NULL;
	--*budget;
	copy = node_new(arena, node->type);
	*copy = *node;
	copy->flags |= (uint8_t)flag;
	copy->next = copy->parent = NULL;
	copy->index = 0;
	copy->map_index = NULL;
	if (node->type != NODE_MAP && node->type != NODE_SEQ)
		return copy;
	copy->first = copy->last = NULL;
	copy->tags = 0;
	copy->len = 0;
	for (const struct node *child = node->first; child;
	     child = child->next) {
		struct node *one = node_copy(arena, child, flag, budget);

		if (!one)
			return NULL;
		node_append(copy, one);
	}
	if (node->map_index)
		index_update(arena, copy);
	return copy;
}
