/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The baselines of a run: the existing one (--baseline, --prune-baseline) and
 * the one to write (--write-baseline).
 */
#ifndef LINT_BASELINE_RUN_H
#define LINT_BASELINE_RUN_H

#include "engine/baseline.h"
#include "worker.h"

struct baseline_run {
	const struct options *options;
	struct job *job;
	const struct not_run *not_run; /* for baseline_run_finish() */
	size_t nnot_run;
	/* some inputs were not linted, so the new baseline would be
	 * incomplete */
	bool incomplete;
	struct baseline *old, *new; /* NULL: not requested */
};

/* Returns 0, or 2 after a message. */
int baseline_run_open(struct baseline_run *baseline_run,
		      const struct options *options, struct job *job);
void baseline_run_release(struct baseline_run *baseline_run);
/* Adds the findings of a file to the new baseline and marks them as suppressed
 * by it, except those that something else suppresses. */
void baseline_run_add(struct baseline_run *baseline_run, const char *file,
		      struct finding *findings, size_t n);
/* Writes the requested baseline. Returns 0, or 2 after a message. */
int baseline_run_finish(struct baseline_run *baseline_run);

#endif
