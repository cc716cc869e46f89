/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups the files that are applied to one cluster. A repository often holds
 * several: the policy's `paths:` separate them (`set:`), or sibling folders do,
 * if they hold the same object, or a default PriorityClass each.
 */
#ifndef LINT_FILE_SETS_H
#define LINT_FILE_SETS_H

#include "base/arena.h"
#include "worker.h"

struct file_sets {
	struct arena arena;
	uint32_t *numbers; /* by file; NULL: all files are one set */
	uint32_t named;	   /* number of sets named in the policy: 1, 2, ... */
	/* Folders that are separate sets although the policy does not name
	 * them. */
	const char **folders;
	size_t n, size;
};

void file_sets_make(struct file_sets *sets, struct job *job,
		    const struct object_index *index);
void file_sets_release(struct file_sets *sets);

#endif
