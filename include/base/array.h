/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrays: their number of items, and growable ones on the heap, for tables with
 * a row per linted file. Growing those in an arena would keep every smaller
 * copy, and 100,000 files must fit into 30 MB. Out of memory aborts, as arenas
 * do.
 */
#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

#include <stddef.h>

/* Makes room for one more item of item_size bytes; returns the array's
 * address. */
void *array_grow(void *items, size_t n, size_t *size, size_t item_size);
/* Makes room for n items in total. */
void *array_reserve(void *items, size_t n, size_t *size, size_t item_size);
void *array_zalloc(size_t n, size_t item_size);

/* Index of the first of n sorted items that does not come before the key; order
 * is as for bsearch(), but with the item first. */
size_t array_first(const void *items, size_t n, size_t item_size,
		   const void *key, int (*order)(const void *, const void *));

/* The number of items of an array, not of a pointer. */
#define ARRAY_SIZE(array) (sizeof(array) / sizeof(*(array)))

#define ARRAY_PUSH(items, n, size)                                             \
	((items) = array_grow((items), (n), &(size), sizeof(*(items))),        \
	 &(items)[(n)++])

#endif
