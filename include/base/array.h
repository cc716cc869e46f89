/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Growable arrays on the heap, for tables with a row per linted file, and in
 * an arena, and the size of constant arrays. An arena would keep every smaller
 * copy of a growing array, and 100,000 files must fit into 30 MB.
 * OUT_OF_MEMORY() is called if memory runs out.
 */
#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

#include <stddef.h>

#include "base/arena.h"

/* Makes room for one more item of item_size bytes; returns the array's
 * address. */
void *array_grow(void *items, size_t n, size_t *size, size_t item_size);
/* Makes room for n items in total. */
void *array_reserve(void *items, size_t n, size_t *size, size_t item_size);
void *array_zalloc(size_t n, size_t item_size);

/* Returns the index of the first of n sorted items that does not come before
 * the key, or n. order compares an item (first argument) with the key (second
 * argument). */
size_t array_first(const void *items, size_t n, size_t item_size,
		   const void *key, int (*order)(const void *, const void *));

/* The number of items of an array, not of a pointer. */
#define ARRAY_SIZE(array) (sizeof(array) / sizeof(*(array)))

#define ARRAY_PUSH(items, n, size)                                             \
	((items) = array_grow((items), (n), &(size), sizeof(*(items))),        \
	 &(items)[(n)++])

/*
 * Growable arrays whose memory lives in an arena:
 *
 *	struct pod *pods; size_t npods, pods_size;   (all zero at first)
 *	*VEC_PUSH(arena, pods, npods, pods_size) = pod;
 *
 * Growing copies, so pointers to items are valid only until the next push.
 */

/* Makes room for one more item of item_size bytes; returns the array's
 * address. */
void *vec_grow(struct arena *arena, void *items, size_t n, size_t *size,
	       size_t item_size);

#define VEC_PUSH(arena, items, n, size)                                        \
	((items) = vec_grow((arena), (items), (n), &(size), sizeof(*(items))), \
	 &(items)[(n)++])

#endif
