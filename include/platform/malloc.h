/* SPDX-License-Identifier: Apache-2.0 */
/*
 * glibc's malloc() settings, for other C libraries. The functions do nothing,
 * because the settings affect only speed and memory.
 */
#ifndef PLATFORM_MALLOC_H
#define PLATFORM_MALLOC_H

#include <stdlib.h>

enum { M_TOP_PAD, M_TRIM_THRESHOLD, M_MMAP_THRESHOLD };

static inline int mallopt(int param, int value)
{
	(void)param;
	(void)value;
	return 0;
}

struct mallinfo2 {
	size_t fordblks; /* free bytes that the allocator keeps */
};

static inline struct mallinfo2 mallinfo2(void)
{
	return (struct mallinfo2){0};
}

static inline int malloc_trim(size_t pad)
{
	(void)pad;
	return 0;
}

#endif
