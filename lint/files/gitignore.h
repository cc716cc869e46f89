/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Excluded files: those that match .gitignore files, which are evaluated as by
 * git (in all folders from the root of the repository on, with negation and
 * .git/info/exclude), and those that match --exclude. The last pattern of
 * .gitignore files that matches decides; files in deeper folders have
 * precedence.
 */
#ifndef LINT_GITIGNORE_H
#define LINT_GITIGNORE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "lint/options/options.h"

/* The patterns of one file, and a link to those of the folders above. */
struct ignore_list;

/*
 * Reads patterns of the file at path (relative to dirfd, or AT_FDCWD), which
 * apply below folder, an absolute path. Returns above if the file cannot be
 * read.
 */
const struct ignore_list *ignore_read(struct arena *arena,
				      const struct ignore_list *above,
				      int dirfd, const char *path,
				      const char *folder);
/*
 * Returns the patterns of all folders above an absolute folder, up to the root
 * of its repository. NULL for that root and outside of a repository.
 */
const struct ignore_list *ignore_above(struct arena *arena, const char *folder);
/* Returns the patterns in .git/info/exclude of a repository with this root;
 * never NULL. */
const struct ignore_list *ignore_repository(struct arena *arena,
					    const char *folder);
/* True if the path is ignored. path is absolute; its folders must not be
 * ignored. */
bool ignore_match(const struct ignore_list *list, const char *path,
		  bool is_folder);

/*
 * The patterns of --exclude. A pattern without a '/' matches names at any
 * depth; others match the path as shown, or the absolute path. Matching is
 * thread-safe.
 */

struct excludes {
	struct exclude *items;
	size_t n, size;
};

/* Returns 0, or -1 with err set if a pattern is invalid. */
int excludes_init(struct excludes *excludes, const struct list *patterns,
		  struct err *err);
bool excludes_match(const struct excludes *excludes, const char *shown,
		    const char *absolute);
/*
 * Like excludes_match(), for a path from the user, which is excluded if any
 * folder in it is.
 */
bool excludes_match_any(const struct excludes *excludes, const char *shown,
			const char *absolute);
void excludes_release(struct excludes *excludes);

#endif
