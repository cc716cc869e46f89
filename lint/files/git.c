/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls git. Names are separated by NUL, so that they need no quoting.
 * `ls-files --others` lists only files below its folder, so both commands run
 * in the top folder.
 */
#include "git.h"

#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "subprocess.h"

enum { ARGUMENTS_MAX = 12 };

int git_run(const char *folder, const char *const *arguments, struct buf *out,
	    struct err *err)
{
	const char *argv[ARGUMENTS_MAX] = {"git", "-C", folder ? folder : "."};
	struct buf errors;
	size_t n = 3;
	int rc;

	while (*arguments && n < ARGUMENTS_MAX - 1)
		argv[n++] = *arguments++;
	buf_init(&errors);
	rc = program_run(argv, NULL, out, &errors, err);
	if (rc < 0)
		err_wrap(err, "--since");
	else if (rc)
		err_set(err, 0, "--since: git: %.*s",
			(int)strcspn(errors.data, "\n"), errors.data);
	buf_release(&errors);
	return rc < 0 ? -1 : rc != 0;
}

static int ask_changes(struct git_changes *changes, const char *revision,
		       struct buf *names, struct err *err)
{
	static const char *const where[] = {"rev-parse", "--show-toplevel",
					    NULL};
	const char *const diff[] = {
		"diff",		 "--name-only",	 "-z",
		"--no-relative", "--no-renames", "--no-ext-diff",
		revision,	 "--",		 NULL};
	static const char *const untracked[] = {"ls-files", "-z", "--others",
						"--exclude-standard", NULL};

	if (git_run(NULL, where, names, err))
		return -1;
	/* Copies the output without its newline. */
	changes->top = arena_strndup(&changes->arena, names->data,
				     names->len - (names->len > 0));
	if (*revision == '-' || !*revision)
		return err_set(err, 0, "--since: `%s` is not a revision",
			       revision);
	buf_reset(names);
	return git_run(changes->top, diff, names, err) ||
			       git_run(changes->top, untracked, names, err)
		       ? -1
		       : 0;
}

int git_changes_read(struct git_changes *changes, const char *revision,
		     struct err *err)
{
	struct arena *arena = &changes->arena;
	struct buf names;
	int rc;

	*changes = (struct git_changes){0};
	buf_init(&names);
	rc = ask_changes(changes, revision, &names, err);
	for (size_t at = 0; !rc && at < names.len;
	     at += strlen(names.data + at) + 1)
		*VEC_PUSH(arena, changes->names, changes->n, changes->size) =
			arena_strdup(arena, names.data + at);
	buf_release(&names);
	texts_sort(changes->names, changes->n);
	return rc;
}

bool git_changes_have(const struct git_changes *changes, const char *path)
{
	const char *top = changes->top;

	return path_is_below(top, path) &&
	       texts_have(changes->names, changes->n,
			  path + strlen(top) + (strcmp(top, "/") != 0));
}

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
