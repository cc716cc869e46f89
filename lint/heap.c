/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrays on the heap. Growth is by half: a table of 100,000 rows wastes less,
 * and realloc() of large blocks moves pages instead of copying them.
 */
#include "heap.h"

#include <stdlib.h>

#include "base/err.h"

void *heap_grow(void *items, size_t n, size_t *size, size_t item_size)
{
	size_t want;

	if (n < *size)
		return items;
	want = *size + *size / 2 + 16;
	items = reallocarray(items, want, item_size);
	if (!items)
		BUG("out of memory");
	*size = want;
	return items;
}

void *heap_zalloc(size_t n, size_t item_size)
{
	void *items = calloc(n ? n : 1, item_size);

	if (!items)
		BUG("out of memory");
	return items;
}
