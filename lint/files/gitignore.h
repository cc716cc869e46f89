/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Evaluates .gitignore files like git: in all folders from the root of the
 * repository on, with negation and .git/info/exclude. The last pattern that
 * matches decides; files in deeper folders have precedence.
 */
#ifndef LINT_GITIGNORE_H
#define LINT_GITIGNORE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

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

#endif
