/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a cluster through kubectl in place of files: its objects, and its
 * state.
 */
#ifndef LINT_LIVE_H
#define LINT_LIVE_H

#include "lint/options/options.h"
#include "lint/run/lint.h"

struct live_cluster {
	struct arena arena;
	struct cluster *state;
	struct lint_text *texts; /* one for each object */
	size_t n, size;
	bool incomplete; /* something could not be read, which was reported */
};

/* Reads the snapshot and the objects that the options request from the cluster.
 * Sets options->asked to the snapshot. Returns 0, also if nothing is requested,
 * or 2 after messages. */
int live_open(struct live_cluster *live, struct options *options,
	      const char *command);
/* Frees the objects; call it when the options are not used any more. */
void live_release(struct live_cluster *live);

#endif
