/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that is freed as a whole. It consists of chunks, which are linked from
 * the newest to the oldest. The first has 512 bytes, or more for a larger
 * request, so that small arenas share pages; each next one is four times as
 * large, up to 1 MiB. If a request that does not fit exceeds a quarter of the
 * next chunk's size, it gets a separate chunk after the head, so that the head
 * stays in use. Strings are packed without padding; everything else is aligned
 * for any type.
 */
#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/escape.h"

#define CHUNK_MIN ((size_t)512)
#define CHUNK_MAX ((size_t)1 << 20)

struct arena_chunk {
	struct arena_chunk *older;
	size_t size; /* of the data that follows */
	alignas(max_align_t) char data[];
};

static struct arena_chunk *chunk_new(size_t size)
{
	struct arena_chunk *chunk;

	if (size > SIZE_MAX - sizeof(*chunk))
		BUG("allocation of %zu bytes", size);
	escape_check(sizeof(*chunk) + size);
	chunk = malloc(sizeof(*chunk) + size);
	if (!chunk)
		OUT_OF_MEMORY();
	chunk->size = size;
	return chunk;
}

static void use_chunk(struct arena *arena, struct arena_chunk *chunk)
{
	arena->head = chunk;
	arena->next = chunk->data;
	arena->limit = chunk->data + chunk->size;
}

/* Returns memory of a separate chunk or of a new head, aligned like a chunk. */
void *arena_take_slowly(struct arena *arena, size_t size)
{
	size_t chunk_size = CHUNK_MIN;
	struct arena_chunk *chunk;

	if (arena->head && arena->head->size >= CHUNK_MIN)
		chunk_size = arena->head->size * 4;
	if (chunk_size > CHUNK_MAX)
		chunk_size = CHUNK_MAX;
	if (arena->head && size > chunk_size / 4) {
		chunk = chunk_new(size);
		chunk->older = arena->head->older;
		arena->head->older = chunk;
		return chunk->data;
	}
	chunk = chunk_new(size > chunk_size ? size : chunk_size);
	chunk->older = arena->head;
	use_chunk(arena, chunk);
	arena->next += size;
	return chunk->data;
}

char *arena_strdup(struct arena *arena, const char *s)
{
	return arena_strndup(arena, s, strlen(s));
}

char *arena_strndup(struct arena *arena, const char *s, size_t len)
{
	char *copy = arena_take(arena, len + 1, 1);

	if (len)
		memcpy(copy, s, len);
	copy[len] = '\0';
	return copy;
}

char *arena_printf(struct arena *arena, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = arena_vprintf(arena, fmt, ap);
	va_end(ap);
	return text;
}

char *arena_vprintf(struct arena *arena, const char *fmt, va_list ap)
{
	/* Most texts fit into the free memory of the chunk, so format there
	 * first. */
	size_t room = (size_t)(arena->limit - arena->next);
	char *text;
	va_list again;
	int len;

	va_copy(again, ap);
	len = vsnprintf(arena->next, room, fmt, again);
	va_end(again);
	if (len < 0)
		BUG("format \"%s\"", fmt);
	text = arena_take(arena, (size_t)len + 1, 1);
	if ((size_t)len >= room)
		vsnprintf(text, (size_t)len + 1, fmt, ap);
	return text;
}

static void free_chunks(struct arena_chunk *chunk)
{
	while (chunk) {
		struct arena_chunk *older = chunk->older;

		free(chunk);
		chunk = older;
	}
}

void arena_reset(struct arena *arena)
{
	struct arena_chunk *head = arena->head;

	if (!head || head->size > CHUNK_MAX) {
		arena_release(arena);
		return;
	}
	free_chunks(head->older);
	head->older = NULL;
	use_chunk(arena, head);
	arena->used = 0;
}

void arena_adopt(struct arena *dst, struct arena *src)
{
	struct arena_chunk *oldest = src->head;

	if (!oldest)
		return;
	if (!dst->head) {
		src->budget = dst->budget;
		*dst = *src;
	} else {
		while (oldest->older)
			oldest = oldest->older;
		oldest->older = dst->head->older;
		dst->head->older = src->head;
		dst->used += src->used;
	}
	*src = (struct arena)ARENA_INIT;
}

void arena_release(struct arena *arena)
{
	free_chunks(arena->head);
	*arena = (struct arena){.budget = arena->budget};
}
