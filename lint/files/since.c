/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --since: of the files that were found, those that git says changed.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/path.h"
#include "git.h"
#include "since.h"

struct changes {
	const char **names; /* absolute */
	size_t n, size;
	struct arena arena;
};

static void add_names(struct changes *changes, const char *top,
		      const struct buf *text)
{
	struct buf path;

	buf_init(&path);
	for (size_t at = 0; at < text->len; at += strlen(text->data + at) + 1) {
		buf_reset(&path);
		path_absolute(top, text->data + at, &path);
		*ARRAY_PUSH(changes->names, changes->n, changes->size) =
			arena_strdup(&changes->arena, path.data);
	}
	buf_release(&path);
}

static int ask_git(struct changes *changes, const char *revision,
		   struct err *err)
{
	struct buf top, names;
	int rc;

	buf_init(&top);
	buf_init(&names);
	rc = git_top(&top, err);
	if (!rc)
		rc = git_changes(top.data, revision, &names, err);
	if (!rc)
		add_names(changes, top.data, &names);
	buf_release(&top);
	buf_release(&names);
	return rc;
}

static int compare_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void keep_changed(struct files *files, const char *cwd,
			 const struct changes *changes)
{
	struct buf path, absolute;
	size_t kept = 0;

	buf_init(&path);
	buf_init(&absolute);
	for (size_t i = 0; i < files->n; i++) {
		const char *key;

		buf_reset(&path);
		buf_reset(&absolute);
		files_path(files, i, &path);
		path_absolute(cwd, path.data, &absolute);
		key = absolute.data;
		if (files->items[i].flags & FILE_STDIN ||
		    (changes->n &&
		     bsearch(&key, changes->names, changes->n,
			     sizeof(*changes->names), compare_text)))
			files->items[kept++] = files->items[i];
	}
	files->n = kept;
	buf_release(&path);
	buf_release(&absolute);
}

int since_filter(struct files *files, const char *cwd, const char *revision,
		 struct err *err)
{
	struct changes changes = {0};
	int rc = ask_git(&changes, revision, err);

	if (!rc && changes.n)
		qsort(changes.names, changes.n, sizeof(*changes.names),
		      compare_text);
	if (!rc)
		keep_changed(files, cwd, &changes);
	arena_release(&changes.arena);
	free(changes.names);
	return rc;
}
