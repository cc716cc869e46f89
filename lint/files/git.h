/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files changed since a git revision, for --since. The revision is an argument
 * of git, so it must not look like an option.
 */
#ifndef LINT_GIT_H
#define LINT_GIT_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "files.h"

/*
 * Runs git in the folder (NULL: the current one) and appends its output.
 * Returns 0; 1 if git fails, -1 if it cannot be run, with its first line in
 * err.
 */
int git_run(const char *folder, const char *const *arguments, struct buf *out,
	    struct err *err);

/* Files that differ from a revision, are removed, or are new (but not
 * ignored). */
struct git_changes {
	struct arena arena;
	const char *top;    /* top folder of the current work tree */
	const char **names; /* below top, sorted */
	size_t n, size;
};
/* Must be released in any case. Returns 0, or -1 and err. */
int git_changes_read(struct git_changes *changes, const char *revision,
		     struct err *err);
/* True if the file at this absolute path has changed. */
bool git_changes_have(const struct git_changes *changes, const char *path);
/* Keeps only the changed files. Returns 0, or -1 and sets err. */
int since_filter(struct files *files, const char *cwd, const char *revision,
		 struct err *err);

#endif
