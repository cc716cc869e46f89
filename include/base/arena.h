/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bump allocator. Everything handed out lives until arena_reset() or
 * arena_release(); nothing is freed singly. Out of memory aborts with a
 * message: sizes are bounded by budgets before anything is allocated.
 * Memory is aligned for any type.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

struct arena_chunk;

struct arena {
	struct arena_chunk *head; /* chunk in use; older ones are linked */
	char *next;		  /* first free byte of head */
	char *limit;		  /* end of head */
	size_t used;		  /* bytes handed out since the last reset */
};

#define ARENA_INIT                                                             \
	{                                                                      \
		0                                                              \
	}

void *arena_alloc(struct arena *arena, size_t size);
void *arena_zalloc(struct arena *arena, size_t size); /* zero-filled */
/* Copies are NUL-terminated. */
char *arena_strdup(struct arena *arena, const char *s);
char *arena_strndup(struct arena *arena, const char *s, size_t len);
char *arena_printf(struct arena *arena, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
char *arena_vprintf(struct arena *arena, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));

/* Forget everything but keep one chunk (at most 1 MiB) for the next user. */
void arena_reset(struct arena *arena);
/* Take over all memory of src, which is empty afterwards. */
void arena_adopt(struct arena *dst, struct arena *src);
/* Give all memory back; the arena may be used again. */
void arena_release(struct arena *arena);

#define ARENA_NEW(arena, type) ((type *)arena_zalloc((arena), sizeof(type)))
#define ARENA_ARRAY(arena, type, n)                                            \
	((type *)arena_zalloc((arena), sizeof(type) * (n)))

#endif
