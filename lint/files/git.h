/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds files that changed since a git revision, for --since. The revision
 * becomes an argument of git, so it must not look like an option.
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
 * Returns 0; 1 if git fails, or -1 if it cannot be run, with err set to the
 * reason, such as the first line of git's standard error.
 */
int git_run(const char *folder, const char *const *arguments, struct buf *out,
	    struct err *err);

/* Files that differ from a revision, are removed, or are new (but not
 * ignored). */
struct git_changes {
	struct arena arena;
	const char *top;    /* top folder of the work tree */
	const char **names; /* relative to top, sorted */
	size_t n, size;
};
/* The result must be released even after an error. Returns 0, or -1 with err
 * set. */
int git_changes_read(struct git_changes *changes, const char *revision,
		     struct err *err);
/* True if the file at this absolute path has changed. */
bool git_changes_have(const struct git_changes *changes, const char *path);
/* Removes files that have not changed from the list. Returns 0, or -1 with err
 * set. */
int since_filter(struct files *files, const char *cwd, const char *revision,
		 struct err *err);

#endif
