/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits the work that the lists, keys and texts of an object cause, in the
 * same way in admission and lint.
 *
 * Rules compare items of a list with each other (containers, volumes and their
 * mounts), and against nodes and quotas. Checking 1,500 items takes a tenth of
 * a second. Checking 12,000, which an object can contain, takes longer than the
 * API server's timeout, after which `failurePolicy: Ignore` admits the object.
 */
#ifndef DOC_WORK_H
#define DOC_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "doc/node.h"

enum {
	/* longest list that is checked, if it is the only one */
	WORK_ITEMS = 1500,
	WORK_MAX = WORK_ITEMS * WORK_ITEMS,
};

/*
 * Returns the sum of the squares of the lengths of all lists and maps. Numbers
 * and strings cost less, so the square of their number counts a sixteenth. Keys
 * around a list or map also count, because each pod and finding below them may
 * be given its path.
 */
uint64_t work_of(const struct node *node);
/* Returns the work for the keys around a list or map, which have this many
 * bytes. */
static inline uint64_t work_of_keys(uint64_t bytes)
{
	return bytes / 1024 * 64;
}
/* Limits on long texts. Every map may refer to a long text: a volume's path is
 * read for each mount of each container. */
enum {
	WORK_TEXT = 4096,	 /* bytes; longer texts are long */
	WORK_TEXTS_MAX = 1 << 14 /* KiB of long texts times maps */
};

/* True if the lists, keys or texts are too long to check the object. */
bool work_is_too_much(const struct node *node);
/* Returns the list or map that contributes most; NULL if there is none. */
const struct node *work_longest(const struct node *node);

#endif
