/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Few files are kept, and those of most runs are none: a list is enough.
 */
#include "kept.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "heap.h"

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

void kept_read(struct kept *kept, struct files *files)
{
	for (size_t i = 0; i < files->n; i++) {
		struct kept_text *text;

		if (!(files->items[i].flags & FILE_KEPT))
			continue;
		text = HEAP_PUSH(kept->items, kept->n, kept->size);
		*text = (struct kept_text){.file = (uint32_t)i};
		files->items[i].error =
			(uint16_t)read_one(files, i, &text->text);
	}
}

const struct buf *kept_find(const struct kept *kept, size_t file)
{
	for (size_t i = 0; i < kept->n; i++)
		if (kept->items[i].file == file)
			return &kept->items[i].text;
	return NULL;
}

void kept_release(struct kept *kept)
{
	for (size_t i = 0; i < kept->n; i++)
		buf_release(&kept->items[i].text);
	free(kept->items);
	memset(kept, 0, sizeof(*kept));
}
