/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The patterns of --exclude. A pattern without a '/' matches names at any
 * depth; others match the path as shown, or the absolute path. Matching is
 * thread-safe.
 */
#ifndef LINT_EXCLUDE_H
#define LINT_EXCLUDE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "lint/options/options.h"

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
