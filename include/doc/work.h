/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The work that the lists of an object cause, limited in the same way in
 * admission and lint.
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
/* Long texts, and how many maps may refer to each: a volume's path is read for
 * each mount of each container. */
enum {
	WORK_TEXT = 4096,	 /* bytes of a long text */
	WORK_TEXTS_MAX = 1 << 14 /* KiB of long texts, times maps */
};

/* The KiB of all long texts and keys, times the number of maps. Texts that
 * nothing refers to (commands, scripts, manifests, data) do not count. */
uint64_t work_of_texts(const struct node *node);
/* True if the lists, keys or texts are too long to check the object. */
bool work_is_too_much(const struct node *node);
/* The list or map that contributes most; NULL if the node has none. */
const struct node *work_longest(const struct node *node);

#endif
