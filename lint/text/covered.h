/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Masks secret values in a file's text and findings before they are shown in
 * reports, diffs and results. No other code does this.
 */
#ifndef LINT_COVERED_H
#define LINT_COVERED_H

#include "engine/finding.h"

/* The text of one file that may be shown; in the arena. */
struct covered {
	struct secrets secrets;
	struct source *source; /* its text, covered; NULL: it holds none */
	bool any;	       /* findings may hold some */
};

/* source may be NULL: a removed file has no lines to show. */
void covered_make(struct covered *covered, struct arena *arena,
		  const struct source *source);
void covered_findings(const struct covered *covered, struct finding *findings,
		      size_t n);

#endif
