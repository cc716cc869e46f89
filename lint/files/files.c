/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of files, and functions on paths. The order is that of strcmp() on
 * whole paths. A walk that sorts folders as if their names ended in '/' adds
 * files in this order, so that sorting is needed only if several paths were
 * named.
 */
#include "files.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/path.h"

void files_release(struct files *files)
{
	free(files->items);
	free(files->folders);
	free(files->roots);
	arena_release(&files->arena);
	memset(files, 0, sizeof(*files));
}

void files_reserve(struct files *files, size_t items, size_t folders)
{
	if (items > files->n)
		files->items =
			array_reserve(files->items, files->n + items,
				      &files->size, sizeof(*files->items));
	if (folders > files->nfolders)
		files->folders = array_reserve(
			files->folders, files->nfolders + folders,
			&files->folders_size, sizeof(*files->folders));
}

uint32_t files_add_folder(struct files *files, const char *path, size_t len,
			  uint32_t policy)
{
	*ARRAY_PUSH(files->folders, files->nfolders, files->folders_size) =
		(struct lint_folder){
			.path = arena_strndup(&files->arena, path, len),
			.policy = policy,
			.root = (uint32_t)(files->nroots - 1)};
	return (uint32_t)(files->nfolders - 1);
}

void files_add_kept(struct files *files, uint32_t folder, const char *name,
		    unsigned flags)
{
	*ARRAY_PUSH(files->items, files->n, files->size) =
		(struct lint_file){name, folder, flags, 0, 0};
}

void files_add(struct files *files, uint32_t folder, const char *name,
	       unsigned flags)
{
	files_add_kept(files, folder, arena_strdup(&files->arena, name), flags);
}

void files_path(const struct files *files, size_t file, struct buf *out)
{
	const struct lint_file *f = &files->items[file];

	path_join(files->folders[f->folder].path, f->name, out);
}

void files_absolute(const struct files *files, size_t file, const char *cwd,
		    struct buf *out)
{
	struct buf shown;

	buf_init(&shown);
	files_path(files, file, &shown);
	buf_reset(out);
	path_absolute(cwd, shown.data, out);
	buf_release(&shown);
}

/* --- order --------------------------------------------------------------- */

/* A path in three parts (folder, slash, name), which is read byte by byte. */
struct path_cursor {
	const char *at, *name;
	bool slash;
};

static struct path_cursor cursor_of(const struct files *files,
				    const struct lint_file *file)
{
	const char *folder = files->folders[file->folder].path;
	size_t len = strlen(folder);

	if (!len)
		return (struct path_cursor){file->name, NULL, false};
	return (struct path_cursor){folder, file->name, folder[len - 1] != '/'};
}

static unsigned char cursor_next(struct path_cursor *c)
{
	if (!*c->at && c->name) {
		if (c->slash) {
			c->slash = false;
			return '/';
		}
		c->at = c->name;
		c->name = NULL;
	}
	return *c->at ? (unsigned char)*c->at++ : 0;
}

static int compare(struct path_cursor a, struct path_cursor b)
{
	unsigned char x, y;

	do {
		x = cursor_next(&a);
		y = cursor_next(&b);
	} while (x == y && x);
	return x - y;
}

static int compare_files(const void *a, const void *b, void *context)
{
	const struct lint_file *x = a, *y = b;

	if (x->folder == y->folder)
		return strcmp(x->name, y->name);
	return compare(cursor_of(context, x), cursor_of(context, y));
}

static bool is_sorted(struct files *files)
{
	for (size_t i = 1; i < files->n; i++)
		if (compare_files(&files->items[i - 1], &files->items[i],
				  files) >= 0)
			return false;
	return true;
}

void files_sort(struct files *files)
{
	size_t kept = 0;

	if (is_sorted(files))
		return;
	qsort_r(files->items, files->n, sizeof(*files->items), compare_files,
		files);
	for (size_t i = 0; i < files->n; i++) {
		struct lint_file *file = &files->items[i];

		if (kept &&
		    !compare_files(&files->items[kept - 1], file, files))
			files->items[kept - 1].flags |= file->flags;
		else
			files->items[kept++] = *file;
	}
	files->n = kept;
}

long files_find(const struct files *files, const char *path)
{
	size_t low = 0, high = files->n - files->nrendered;
	struct path_cursor want = {path, NULL, false};

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int c = compare(cursor_of(files, &files->items[middle]), want);

		if (!c)
			return (long)middle;
		if (c < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return -1;
}

/* --- paths being built --------------------------------------------------- */

void path_enter(struct buf *path, const char *name)
{
	if (path->len && path->data[path->len - 1] != '/')
		buf_addc(path, '/');
	buf_adds(path, name);
}

void path_leave(struct buf *path, size_t len)
{
	path->len = len;
	if (path->size)
		path->data[len] = '\0';
}
