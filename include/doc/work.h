/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work needed to check an object's lists, in admission and lint alike.
 *
 * Rules compare items of a list with each other (containers, volumes and their
 * mounts), and against nodes and quotas. 1,500 items take a tenth of a second;
 * 12,000, which fit into an object, took longer than the API server's timeout,
 * after which it admits the object.
 */
#ifndef DOC_WORK_H
#define DOC_WORK_H

#include <stdint.h>

#include "doc/node.h"

enum {
	WORK_ITEMS = 1500, /* of one list, if it is the only list */
	WORK_MAX = WORK_ITEMS * WORK_ITEMS,
};

/*
 * Squares of the lengths of all lists and maps; numbers and strings cost less
 * and count for a sixteenth. The keys around a list or map also count, because
 * each pod and finding below them may be given its path.
 */
uint64_t work_of(const struct node *node);
/* Work for the keys around a list or map, which have this many bytes. */
static inline uint64_t work_of_keys(uint64_t bytes)
{
	return bytes / 1024 * 64;
}
/* The list or map that contributes most; NULL if the node has none. */
const struct node *work_longest(const struct node *node);

#endif
