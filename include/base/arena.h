/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bump allocator. Everything handed out lives until arena_reset() or
 * arena_release(); single pieces cannot be freed. If memory runs out,
 * OUT_OF_MEMORY() (base/err.h) is called; callers limit the sizes by budgets
 * beforehand. Memory is aligned for any type, except for texts and
 * arena_take().
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stdalign.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct arena_chunk;
struct load_budget;

struct arena {
	struct arena_chunk *head; /* chunk that serves requests; full ones are
				     linked to it */
	char *next;		  /* first free byte of head */
	char *limit;		  /* end of head */
	size_t used;		  /* bytes handed out since the last reset */
	/* Budget of the loaders that use this memory (doc/budget.h), or NULL;
	 * must live as long as the arena. */
	struct load_budget *budget;
};

#define ARENA_INIT                                                             \
	{                                                                      \
		0                                                              \
	}

/* Takes memory from a new chunk because the head has too little left. */
void *arena_take_slowly(struct arena *arena, size_t size);

/* Returns memory with the alignment, a power of two of at most
 * alignof(max_align_t). Never returns NULL, not even for 0 bytes. */
static inline void *arena_take(struct arena *arena, size_t size,
			       size_t alignment)
{
	size_t padding = -(uintptr_t)arena->next & (alignment - 1);
	size_t room = (size_t)(arena->limit - arena->next);
	char *memory;

	arena->used += size;
	if (room <= padding || size > room - padding)
		return arena_take_slowly(arena, size);
	memory = arena->next + padding;
	arena->next = memory + size;
	return memory;
}

static inline void *arena_alloc(struct arena *arena, size_t size)
{
	return arena_take(arena, size, alignof(max_align_t));
}

/* Returns memory filled with zeros. */
static inline void *arena_zalloc(struct arena *arena, size_t size)
{
	return memset(arena_alloc(arena, size), 0, size);
}

/* Copy a text into the arena and terminate it with NUL. */
char *arena_strdup(struct arena *arena, const char *s);
char *arena_strndup(struct arena *arena, const char *s, size_t len);
char *arena_printf(struct arena *arena, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
char *arena_vprintf(struct arena *arena, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));

/* Invalidates everything handed out, but keeps one chunk (at most 1 MiB) for
 * reuse. */
void arena_reset(struct arena *arena);
/* Takes over all memory of src, which is left empty. */
void arena_adopt(struct arena *dst, struct arena *src);
/* Frees all memory; the arena may be used again. */
void arena_release(struct arena *arena);

#define ARENA_NEW(arena, type) ((type *)arena_zalloc((arena), sizeof(type)))
#define ARENA_ARRAY(arena, type, n)                                            \
	((type *)arena_zalloc((arena), sizeof(type) * (n)))

#endif
