/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Growable arrays whose memory lives in an arena:
 *
 *	struct pod *pods; size_t npods, pods_size;   (all zero at first)
 *	*VEC_PUSH(arena, pods, npods, pods_size) = pod;
 *
 * Growing copies, so pointers to items are valid only until the next push.
 */
#ifndef BASE_VEC_H
#define BASE_VEC_H

#include <stddef.h>

#include "base/arena.h"

/* Makes room for one more item of item_size bytes; returns the array's
 * address. */
void *vec_grow(struct arena *arena, void *items, size_t n, size_t *size,
	       size_t item_size);

#define VEC_PUSH(arena, items, n, size)                                        \
	((items) = vec_grow((arena), (items), (n), &(size), sizeof(*(items))), \
	 &(items)[(n)++])

#endif
