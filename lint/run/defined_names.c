/* SPDX-License-Identifier: Apache-2.0 */
#include "defined_names.h"

#include <fcntl.h>

#include "base/file.h"
#include "base/text.h"
#include "base/vec.h"

void defined_names_init(struct defined_names *names, const struct files *files,
			const struct stdin_cache *stdin_cache)
{
	*names = (struct defined_names){.files = files,
					.stdin_cache = stdin_cache};
	pthread_mutex_init(&names->lock, NULL);
}

void defined_names_release(struct defined_names *names)
{
	arena_release(&names->arena);
	pthread_mutex_destroy(&names->lock);
}

static void add(void *context, const struct defined_name *name)
{
	struct defined_names *names = context;

	*VEC_PUSH(&names->arena, names->items, names->n, names->size) =
		(struct defined_name){name->kind,
				      arena_strdup(&names->arena, name->text),
				      name->vendor};
}

static void read_file(struct defined_names *names, uint32_t file,
		      struct buf *path, struct buf *text)
{
	const struct file_how how = {.limit = FILE_MANIFEST_MAX};
	const struct buf *input = stdin_cache_find(names->stdin_cache, file);
	struct arena arena = ARENA_INIT;

	buf_reset(path);
	buf_reset(text);
	files_path(names->files, file, path);
	if (!input && (!(names->files->items[file].flags & FILE_REGULAR) ||
		       file_read(AT_FDCWD, path->data, &how, text)))
		return;
	if (!input)
		input = text;
	defined_names_of_text(&arena, input->data, input->len, add, names);
	arena_release(&arena);
}

static void read_all(struct defined_names *names)
{
	struct buf path, text;

	buf_init(&path);
	buf_init(&text);
	for (size_t i = 0; i < names->files->n; i++)
		read_file(names, (uint32_t)i, &path, &text);
	buf_release(&path);
	buf_release(&text);
	names->read = true;
}

bool defined_names_find(void *context, enum defined_kind kind, const char *text,
			struct defined_name *name)
{
	struct defined_names *names = context;
	bool found = false;

	pthread_mutex_lock(&names->lock);
	if (!names->read)
		read_all(names);
	for (size_t i = 0; i < names->n && !found; i++) {
		found = defined_name_is(&names->items[i], kind, text);
		if (found)
			*name = names->items[i];
	}
	pthread_mutex_unlock(&names->lock);
	return found;
}
