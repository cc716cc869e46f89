/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one place that masks secret values in a file's text and findings before
 * they are shown: reports, diffs, results.
 */
#ifndef LINT_COVERED_H
#define LINT_COVERED_H

#include "engine/finding.h"

/* What may be shown of one file; in the arena. */
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
