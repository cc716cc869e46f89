/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stores texts of files. It is a list, because most runs store none and others
 * few.
 */
#include "stdin_cache.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static int read_one(const struct files *files, size_t file, struct buf *text)
{
	static const struct file_how how = {.limit = FILE_MANIFEST_MAX,
					    .may_pipe = true};
	struct buf path;
	int error;

	if (files->items[file].flags & FILE_STDIN)
		return input_read_stdin(text);
	buf_init(&path);
	files_path(files, file, &path);
	error = input_read(text, AT_FDCWD, path.data, &how);
	buf_release(&path);
	return error;
}

void stdin_cache_read(struct stdin_cache *stdin_cache, struct files *files)
{
	for (size_t i = 0; i < files->n; i++) {
		struct kept_text *text;

		if (!(files->items[i].flags & FILE_READ_ONCE))
			continue;
		text = ARRAY_PUSH(stdin_cache->items, stdin_cache->n,
				  stdin_cache->size);
		*text = (struct kept_text){.file = (uint32_t)i};
		files->items[i].error =
			(uint16_t)read_one(files, i, &text->text);
	}
}

void stdin_cache_put(struct stdin_cache *stdin_cache, uint32_t file,
		     const char *text, size_t len)
{
	struct kept_text *kept = ARRAY_PUSH(stdin_cache->items, stdin_cache->n,
					    stdin_cache->size);

	*kept = (struct kept_text){.file = file};
	buf_init(&kept->text);
	buf_add(&kept->text, text, len);
}

const struct buf *stdin_cache_find(const struct stdin_cache *stdin_cache,
				   size_t file)
{
	for (size_t i = 0; i < stdin_cache->n; i++)
		if (stdin_cache->items[i].file == file)
			return &stdin_cache->items[i].text;
	return NULL;
}

void stdin_cache_release(struct stdin_cache *stdin_cache)
{
	for (size_t i = 0; i < stdin_cache->n; i++)
		buf_release(&stdin_cache->items[i].text);
	free(stdin_cache->items);
	memset(stdin_cache, 0, sizeof(*stdin_cache));
}
