/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hash index of a large map, private to node.c and build.c. It is allocated in
 * the tree's arena and covers the children up to and including `indexed`;
 * children that were appended later are found by a scan from there.
 */
#ifndef RULES_DOC_INDEX_H
#define RULES_DOC_INDEX_H

#include <stddef.h>
#include <stdint.h>

#include "doc/node.h"

enum {
	/* Smaller maps are scanned: comparing tags is as fast. */
	INDEX_ABOVE = 64,
};

struct node_index {
	/* number of slots, a power of two; at most half are used */
	uint32_t size;
	struct node *indexed;
	struct node **slots;
};

/* Returns the slot of the key, or the empty slot for it. */
struct node **index_slot(const struct node_index *index, const char *key,
			 size_t len);
/* Returns a child by the bytes of its key; NULL if there is none. The map may
 * be unknown. */
struct node *node_lookup(const struct node *map, const char *key, size_t len);

#endif
