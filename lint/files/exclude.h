/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The patterns of --exclude. A pattern without a '/' matches names at any
 * depth; others match paths as shown, or absolute ones. Matching is
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

/* Returns 0, or -1 and err on a bad pattern. */
int excludes_init(struct excludes *excludes, const struct list *patterns,
		  struct err *err);
bool excludes_match(const struct excludes *excludes, const char *shown,
		    const char *absolute);
/*
 * Like excludes_match(), for a path from the user: any folder of it counts.
 */
bool excludes_match_any(const struct excludes *excludes, const char *shown,
			const char *absolute);
void excludes_release(struct excludes *excludes);

#endif
