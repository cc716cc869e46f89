/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes the work that an object's lists and keys cause, and finds the
 * longest list.
 */
#include "doc/work.h"

enum { PLAIN_SHARE = 16 };

static bool has_children(const struct node *node)
{
	return node_is_map(node) || node_is_seq(node);
}

static uint64_t own_work(const struct node *node)
{
	uint64_t items = 0, plain = 0;

	FOR_EACH_CHILD(node, child) {
		if (has_children(child))
			items++;
		else
			plain++;
	}
	return items * items + plain * plain / PLAIN_SHARE;
}

/* keys: their bytes from the root to the node. */
static uint64_t work_below(const struct node *node, uint64_t keys)
{
	uint64_t work = own_work(node) + work_of_keys(keys);

	FOR_EACH_CHILD(node, child)
		if (has_children(child))
			work += work_below(child, keys + child->key_len);
	return work;
}

uint64_t work_of(const struct node *node)
{
	return work_below(node, 0);
}

static void find_longest(const struct node *node, uint64_t *most,
			 const struct node **longest)
{
	uint64_t work = own_work(node);

	if (has_children(node) && (!*longest || work > *most)) {
		*most = work;
		*longest = node;
	}
	FOR_EACH_CHILD(node, child)
		if (has_children(child))
			find_longest(child, most, longest);
}

const struct node *work_longest(const struct node *node)
{
	const struct node *longest = NULL;
	uint64_t most = 0;

	find_longest(node, &most, &longest);
	return longest;
}
