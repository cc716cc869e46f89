/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --since: of the files that were found, those that git says changed.
 */
#include "since.h"

#include "git.h"

static void keep_changed(struct files *files, const char *cwd,
			 const struct git_changes *changes)
{
	size_t kept = 0;
	struct buf path;

	buf_init(&path);
	for (size_t i = 0; i < files->n; i++) {
		files_absolute(files, i, cwd, &path);
		if (files->items[i].flags & FILE_STDIN ||
		    git_changes_have(changes, path.data))
			files->items[kept++] = files->items[i];
	}
	files->n = kept;
	buf_release(&path);
}

int since_filter(struct files *files, const char *cwd, const char *revision,
		 struct err *err)
{
	struct git_changes changes;
	int rc = git_changes_read(&changes, revision, err);

	if (!rc)
		keep_changed(files, cwd, &changes);
	arena_release(&changes.arena);
	return rc;
}
