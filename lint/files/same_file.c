/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps one of several paths of a file: a symbolic link and its target, a
 * folder that was named directly and through a link, relative and absolute
 * paths. The file is checked once, under the path that is not a link, or else
 * under the first one; otherwise its requests would count twice.
 *
 * Each hard link counts as a separate file, as for git, because the first
 * change makes them different. A walk does not follow links to folders, so
 * below its root only the last part of a path can be a link.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/err.h"
#include "base/path.h"
#include "base/text.h"
#include "files.h"

/* --- paths without links -------------------------------------------------- */

void files_add_root(struct files *files, const char *path, size_t len)
{
	struct lint_root root = {.shown = len};
	char *copy = len ? strndup(path, len) : strdup(".");
	char *real;

	if (!copy)
		OUT_OF_MEMORY();
	real = path_real(copy);
	if (real)
		root.real = arena_strdup(&files->arena, real);
	free(real);
	free(copy);
	*ARRAY_PUSH(files->roots, files->nroots, files->roots_size) = root;
}

static const struct lint_root *root_of(const struct files *files, size_t file)
{
	return &files->roots[files->folders[files->items[file].folder].root];
}

const char *files_bound(const struct files *files, size_t file)
{
	const char *real = root_of(files, file)->real;

	if (files->items[file].flags & FILE_NAMED)
		return NULL;
	/* Return a folder in which no file can be. */
	return real ? real : "/dev/null";
}

/* Replaces the content of out by the path without symbolic links. Returns false
 * if the path does not exist. */
static bool real_path(const struct files *files, size_t file, struct buf *out)
{
	const struct lint_file *f = &files->items[file];
	const struct lint_root *root = root_of(files, file);
	const char *rest = files->folders[f->folder].path + root->shown;
	char *real;

	buf_reset(out);
	if (f->flags & FILE_LINK) {
		files_path(files, file, out);
		real = path_real(out->data);
		buf_reset(out);
		if (!real)
			return false;
		buf_adds(out, real);
		free(real);
		return true;
	}
	if (!root->real)
		return false;
	path_join(root->real, rest + (*rest == '/'), out);
	path_enter(out, f->name);
	return true;
}

/* --- paths of the same file ----------------------------------------------- */

struct file_name {
	uint64_t hash; /* hash of the path without links */
	uint32_t file;
	bool link;
};

static int by_hash(const void *a, const void *b)
{
	const struct file_name *x = a, *y = b;

	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	if (x->link != y->link)
		return x->link - y->link;
	return x->file < y->file ? -1 : 1;
}

static size_t hash_names(const struct files *files, struct file_name *names)
{
	struct buf path;
	size_t n = 0;

	buf_init(&path);
	for (size_t i = 0; i < files->n; i++) {
		unsigned flags = files->items[i].flags;

		if (flags & (FILE_READ_ONCE | FILE_DANGLING) ||
		    !real_path(files, i, &path))
			continue;
		names[n++] =
			(struct file_name){text_hash(path.data, path.len, 0),
					   (uint32_t)i, flags & FILE_LINK};
	}
	buf_release(&path);
	return n;
}

/* True if both have the same path, not just the same hash. */
static bool same(const struct files *files, uint32_t a, uint32_t b)
{
	struct buf x, y;
	bool equal;

	buf_init(&x);
	buf_init(&y);
	equal = real_path(files, a, &x) && real_path(files, b, &y) &&
		!strcmp(x.data, y.data);
	buf_release(&x);
	buf_release(&y);
	return equal;
}

static void mark(struct files *files, const struct file_name *names, size_t n)
{
	size_t first = 0;

	for (size_t i = 1; i < n; i++) {
		struct lint_file *kept = &files->items[names[first].file];
		struct lint_file *file = &files->items[names[i].file];

		if (names[i].hash != names[first].hash) {
			first = i;
			continue;
		}
		if (!same(files, names[first].file, names[i].file))
			continue;
		file->flags |= FILE_SECOND_NAME;
		kept->flags |= file->flags & (FILE_FRAGMENT | FILE_NAMED);
	}
}

static bool may_repeat(const struct files *files)
{
	if (files->n < 2)
		return false;
	for (size_t i = 0; i < files->n; i++)
		if (files->items[i].flags & FILE_LINK)
			return true;
	return files->nroots > 1;
}

void files_drop_repeated(struct files *files)
{
	struct file_name *names;
	size_t n, kept = 0;

	if (!may_repeat(files))
		return;
	names = array_zalloc(files->n, sizeof(*names));
	n = hash_names(files, names);
	qsort(names, n, sizeof(*names), by_hash);
	mark(files, names, n);
	free(names);
	for (size_t i = 0; i < files->n; i++)
		if (!(files->items[i].flags & FILE_SECOND_NAME))
			files->items[kept++] = files->items[i];
	files->n = kept;
}
