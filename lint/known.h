/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Baselines of a run: the one that was there (--baseline, --prune-baseline)
 * and the one to write (--write-baseline).
 */
#ifndef LINT_KNOWN_H
#define LINT_KNOWN_H

#include "engine/baseline.h"
#include "worker.h"

struct known {
	const struct options *options;
	struct job *job;
	const struct not_run *not_run; /* for known_finish() */
	size_t nnot_run;
	struct baseline *old, *new; /* NULL: not asked for */
	size_t unlisted; /* findings that --write-baseline cannot list */
};

/* 0, or 2 after a message. */
int known_open(struct known *known, const struct options *options,
	       struct job *job);
void known_release(struct known *known);
/* List the findings of a file in the new baseline; they are marked. */
void known_add(struct known *known, const char *file, struct finding *findings,
	       size_t n);
/* Write what was asked for. 0, or 2 after a message. */
int known_finish(struct known *known);

#endif
