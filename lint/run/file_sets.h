/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups files into sets, one for each cluster to which they are applied. A
 * repository often contains files for several clusters: the policy's `paths:`
 * separate them (`set:`), or they are in sibling folders that contain the same
 * object, or a default PriorityClass each.
 */
#ifndef LINT_FILE_SETS_H
#define LINT_FILE_SETS_H

#include "base/arena.h"
#include "worker.h"

struct file_sets {
	struct arena arena;
	/* number of the set, by file (NULL: all files are one set) */
	uint32_t *numbers;
	uint32_t named; /* number of sets named in the policy: 1, 2, ... */
	/* Folders that are separate sets although the policy does not say
	 * so. */
	const char **folders;
	size_t n, size;
};

void file_sets_make(struct file_sets *sets, struct job *job,
		    const struct object_index *index);
void file_sets_release(struct file_sets *sets);

#endif
