/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Construction of trees: nodes are created, appended, found and removed.
 */
#ifndef DOC_BUILD_H
#define DOC_BUILD_H

#include "base/arena.h"
#include "doc/node.h"

struct node *node_new(struct arena *arena, enum node_type type);
/* Zeroes all members. For a compound literal, the compiler would use a slow
 * string instruction. */
static inline void node_clear(struct node *node)
{
	node->type = node->flags = 0;
	node->tag = 0;
	node->len = 0;
	node->str = NULL;
	node->start = node->end = 0;
	node->key_start = node->key_end = 0;
	node->key = NULL;
	node->key_len = 0;
	node->index = 0;
	node->first = node->last = NULL;
	node->next = node->parent = NULL;
	node->map_index = NULL;
	node->tags = 0;
}

/* Appends a child that keeps its own parent, index and tag. */
static inline void node_link(struct node *parent, struct node *child)
{
	child->next = NULL;
	if (parent->last)
		parent->last->next = child;
	else
		parent->first = child;
	parent->last = child;
	parent->len++;
	if (child->key)
		parent->tags |= node_tag_bit(child->tag);
}

/* Appends a child and sets its parent and index. In a map, set its key
 * before. */
static inline void node_append(struct node *parent, struct node *child)
{
	child->parent = parent;
	child->index = parent->len;
	if (child->key)
		child->tag = node_tag(child->key, child->key_len);
	node_link(parent, child);
}

/*
 * Finds a child of a map under construction by the bytes of its key; NULL if
 * absent. Above INDEX_ABOVE children it builds and keeps a hash index in the
 * arena, so that filling a map with n distinct keys stays linear.
 */
struct node *node_find(struct arena *arena, struct node *map, const char *key,
		       size_t len);
/*
 * Removes a child, keeps the order of the others and renumbers them. It walks
 * over all children, so replace a value in place if the input decides how many
 * are removed.
 */
void node_unlink(struct node *parent, struct node *child);
/* Takes the value and children of another node; keeps the node's own key and
 * positions. */
void node_take(struct node *node, const struct node *from);
/*
 * Makes a deep copy and sets flag in every copied node. Decreases *budget by
 * the number of nodes; returns NULL if the budget is not enough.
 */
struct node *node_copy(struct arena *arena, const struct node *node,
		       unsigned flag, uint32_t *budget);

#endif
