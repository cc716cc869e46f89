/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What changed since a git revision, for --since. The revision is an argument
 * of git's, so it must not look like an option.
 */
#ifndef LINT_GIT_H
#define LINT_GIT_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

/*
 * Run git in the folder (NULL: the current one); what it prints is appended.
 * 0; 1 when it refuses, -1 when it cannot be run, with its first words in err.
 */
int git_run(const char *folder, const char *const *arguments, struct buf *out,
	    struct err *err);

/* Where the work tree that we are in begins. 0, or -1 and err. */
int git_top(struct buf *top, struct err *err);

/*
 * Names of files below top that differ from the revision, or are gone or new
 * (but not ignored), each followed by a NUL. 0, or -1 and err.
 */
int git_changes(const char *top, const char *revision, struct buf *names,
		struct err *err);

#endif
