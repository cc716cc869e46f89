/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a cluster through kubectl, in place of files: its state, and its
 * objects.
 */
#ifndef LINT_LIVE_H
#define LINT_LIVE_H

#include "lint/options/options.h"
#include "lint/run/lint.h"

struct live_cluster {
	struct arena arena;
	struct cluster *state;
	struct lint_text *texts; /* one an object */
	size_t n, size;
	bool incomplete; /* something may not be read, which was reported */
};

/* Reads the objects that the options select; sets their snapshot. Returns 0, or
 * 2 after messages. */
int live_open(struct live_cluster *live, struct options *options,
	      const char *command);
/* Call it once the options are no longer used. */
void live_release(struct live_cluster *live);

#endif
