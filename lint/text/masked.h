/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Masks secret values in a file's text and findings before they are shown in
 * reports, diffs and results. All such output uses these functions.
 */
#ifndef LINT_MASKED_H
#define LINT_MASKED_H

#include "engine/finding.h"

/* The text of a file that may be shown; lives in the arena. */
struct masked {
	struct secrets secrets;
	/* text with secrets masked; NULL if it contains none */
	struct source *source;
	bool any; /* findings may contain secrets */
};

/* source is NULL for a removed file, whose lines are not shown. */
void masked_make(struct masked *masked, struct arena *arena,
		 const struct source *source);
void masked_findings(const struct masked *masked, struct finding *findings,
		     size_t n);

#endif
