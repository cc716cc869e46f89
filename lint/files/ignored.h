/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Manifests inside an ignored folder are counted, up to a budget for the whole
 * walk: the number shows that something was left out, not how large
 * node_modules is.
 */
#ifndef LINT_IGNORED_H
#define LINT_IGNORED_H

#include <stdint.h>

#include "listing.h"

enum { IGNORED_BUDGET = 20000, IGNORED_UNKNOWN = INT32_MAX };

struct ignored_count {
	uint32_t manifests;
	uint32_t looked_at; /* entries, at most the budget; or UNKNOWN */
};

/* Count below fd, which is taken. */
struct ignored_count ignored_count(struct listings *listings, int fd,
				   uint32_t budget);

#endif
