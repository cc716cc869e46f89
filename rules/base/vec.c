/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Grows arrays. Arrays in an arena double; the outgrown copy stays behind in
 * the arena, which costs at most as much memory again as the final array.
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
	 * Large items (objects, pods) start at one, because most lists hold
	 * only one.
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
