/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrays on the heap and in arenas. On the heap, they grow by half their size:
 * in a table of 100,000 rows this wastes less than doubling, and realloc() of
 * large blocks moves pages instead of copying them.
 */
#include "base/array.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"

void *array_reserve(void *items, size_t n, size_t *size, size_t item_size)
{
	if (n <= *size)
		return items;
	items = reallocarray(items, n, item_size);
	if (!items)
		OUT_OF_MEMORY();
	*size = n;
	return items;
}

void *array_grow(void *items, size_t n, size_t *size, size_t item_size)
{
	if (n < *size)
		return items;
	return array_reserve(items, *size + *size / 2 + 16, size, item_size);
}

void *array_zalloc(size_t n, size_t item_size)
{
	void *items = calloc(n ? n : 1, item_size);

	if (!items)
		OUT_OF_MEMORY();
	return items;
}

size_t array_first(const void *items, size_t n, size_t item_size,
		   const void *key, int (*order)(const void *, const void *))
{
	size_t low = 0;

	while (low < n) {
		size_t middle = low + (n - low) / 2;

		if (order((const char *)items + middle * item_size, key) < 0)
			low = middle + 1;
		else
			n = middle;
	}
	return low;
}

/*
 * Grows arrays. An array in an arena doubles; the old copy stays in the arena.
 * All old copies together take at most as much memory as the final array.
 */

void *vec_grow(struct arena *arena, void *items, size_t n, size_t *size,
	       size_t item_size)
{
	void *grown;

	if (n < *size)
		return items;
	/*
	 * Arrays of large items (objects, pods) start with room for two,
	 * because most of them stay short.
	 */
	if (*size)
		*size *= 2;
	else
		*size = item_size > 64 ? 2 : 8;
	grown = arena_zalloc(arena, *size * item_size);
	if (n)
		memcpy(grown, items, n * item_size);
	return grown;
}
