/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads, stores and rereads manifests. A buffer that grew for a large file is
 * freed before the next file, so that memory depends only on the files that
 * are being linted.
 */
#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"

enum {
	KEPT = 2 * 1024 * 1024,
	WAIT = 200, /* in milliseconds */
};

int input_read(struct buf *input, int dirfd, const char *path,
	       const struct file_how *how)
{
	if (input->size > KEPT)
		buf_release(input);
	buf_reset(input);
	return file_read(dirfd, path, how, input);
}

int input_read_stdin(struct buf *input)
{
	return file_read_fd(STDIN_FILENO, FILE_MANIFEST_MAX, false, input);
}

bool input_waits(bool wait)
{
	struct stat st;
	int bytes = 0;

	if (fstat(STDIN_FILENO, &st) || !S_ISFIFO(st.st_mode))
		return false;
	if (wait)
		poll(&(struct pollfd){STDIN_FILENO, POLLIN, 0}, 1, WAIT);
	return !ioctl(STDIN_FILENO, FIONREAD, &bytes) && bytes > 0;
}

const char *input_strerror(int error)
{
	_Static_assert(FILE_MANIFEST_MAX >> 20 == 64, "the text says it");
	if (error == EFBIG)
		return "larger than 64 MiB";
	if (error == EPIPE)
		return "a pipe that nothing writes to";
	return error == EINVAL ? "not a regular file" : strerror(error);
}

/*
 * Stores texts of files. It is a list, because most runs store none and others
 * few.
 */

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

/*
 * Reads files a second time. Only files with findings are read again, which is
 * cheaper than keeping all texts in memory.
 */

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
