/* SPDX-License-Identifier: Apache-2.0 */
/*
 * .gitignore as git reads it: patterns from the repository root down, nested
 * files, negation, .git/info/exclude; the last pattern that matches decides,
 * deeper files before higher ones.
 */
#ifndef LINT_GITIGNORE_H
#define LINT_GITIGNORE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

/* The patterns of one file, followed by those of the folders above. */
struct ignore_list;

/*
 * Reads patterns of the file at path (relative to dirfd, or AT_FDCWD), which
 * apply below folder, an absolute path. Returns above if there is no such file.
 */
const struct ignore_list *ignore_read(struct arena *arena,
				      const struct ignore_list *above,
				      int dirfd, const char *path,
				      const char *folder);
/*
 * Returns the patterns for the entries of an absolute folder, without its
 * .gitignore; NULL outside a repository.
 */
const struct ignore_list *ignore_above(struct arena *arena, const char *folder);
/* Patterns of a repository with this root: .git/info/exclude; never NULL. */
const struct ignore_list *ignore_repository(struct arena *arena,
					    const char *folder);
/* path is absolute; its folders must not be ignored. */
bool ignore_match(const struct ignore_list *list, const char *path,
		  bool is_folder);

#endif
