/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Masks secret values in a file's text and findings before they are shown in
 * reports, diffs and results. No other code does this.
 */
#ifndef LINT_MASKED_H
#define LINT_MASKED_H

#include "engine/finding.h"

/* The text of one file that may be shown; lives in the arena. */
struct masked {
	struct secrets secrets;
	struct source *source; /* its text, masked; NULL: without a secret */
	bool any;	       /* findings may contain secrets */
};

/* source may be NULL: a removed file has no lines to show. */
void masked_make(struct masked *masked, struct arena *arena,
		 const struct source *source);
void masked_findings(const struct masked *masked, struct finding *findings,
		     size_t n);

#endif
