/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Growable arrays on the heap, for tables with a row per linted file: growing
 * them in an arena would keep every smaller copy, and 100,000 files must fit
 * into 30 MB. Out of memory aborts, as arenas do.
 */
#ifndef LINT_HEAP_H
#define LINT_HEAP_H

#include <stddef.h>

/* Room for one more item of item_size bytes; the array's address. */
void *heap_grow(void *items, size_t n, size_t *size, size_t item_size);
/* Room for n items in all. */
void *heap_reserve(void *items, size_t n, size_t *size, size_t item_size);
void *heap_zalloc(size_t n, size_t item_size);

#define HEAP_PUSH(items, n, size)                                              \
	((items) = heap_grow((items), (n), &(size), sizeof(*(items))),         \
	 &(items)[(n)++])

#endif
