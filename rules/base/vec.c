/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Grows arrays. An array in an arena doubles; the old copy stays in the arena.
 * All old copies together take at most as much memory as the final array.
 */
#include "base/vec.h"

#include <string.h>

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
