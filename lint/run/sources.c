/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads files a second time. Only files with findings are read again, which is
 * cheaper than keeping all texts in memory.
 */
#include "sources.h"

#include <fcntl.h>
#include <string.h>

void sources_init(struct sources *sources, const struct files *files,
		  const struct stdin_cache *stdin_cache)
{
	memset(sources, 0, sizeof(*sources));
	sources->files = files;
	sources->stdin_cache = stdin_cache;
	for (int i = 0; i < SOURCES_KEPT; i++)
		buf_init(&sources->slots[i].path);
}

void sources_release(struct sources *sources)
{
	for (int i = 0; i < SOURCES_KEPT; i++) {
		sources->slots[i].used = 0;
		buf_release(&sources->slots[i].input);
		arena_release(&sources->slots[i].arena);
		buf_release(&sources->slots[i].path);
	}
}

static struct source *fill(struct sources *sources, struct source_slot *slot,
			   uint32_t file)
{
	const struct lint_file *f = &sources->files->items[file];
	const struct file_how how = {.limit = FILE_MANIFEST_MAX,
				     .known = f->flags & FILE_REGULAR,
				     .bytes = f->size};
	const struct buf *input = stdin_cache_find(sources->stdin_cache, file);

	slot->used = 0;
	slot->file = file;
	buf_reset(&slot->path);
	files_path(sources->files, file, &slot->path);
	if (!input && input_read(&slot->input, AT_FDCWD, slot->path.data, &how))
		return NULL;
	if (!input)
		input = &slot->input;
	if (input->len != f->size)
		return NULL;
	arena_reset(&slot->arena);
	source_init(&slot->source, &slot->arena, slot->path.data, input->data,
		    input->len);
	slot->used = ++sources->clock;
	return &slot->source;
}

struct source *sources_get(struct sources *sources, uint32_t file)
{
	struct source_slot *oldest = &sources->slots[0];

	if (file >= sources->files->n)
		return NULL;
	for (int i = 0; i < SOURCES_KEPT; i++) {
		struct source_slot *slot = &sources->slots[i];

		if (slot->used && slot->file == file) {
			slot->used = ++sources->clock;
			return &slot->source;
		}
		if (slot->used < oldest->used)
			oldest = slot;
	}
	return fill(sources, oldest, file);
}
