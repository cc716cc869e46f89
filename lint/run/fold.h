/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports one info of a rule with RULE_SITE in place of all, because every pod
 * would otherwise repeat the same statement about the cluster. The first info
 * has the number of the others and some of their places.
 */
#ifndef LINT_FOLD_H
#define LINT_FOLD_H

#include "engine/finding.h"

enum { FOLD_RULES = 8, FOLD_PLACES = 4 };

struct fold {
	const char *fail_on; /* findings that fail are never folded */
	struct folded {
		const struct rule *rule;
		struct place places[FOLD_PLACES]; /* the first ones */
		struct place last;
		uint32_t n; /* number of all places */
		bool shown; /* the first finding was returned */
	} rules[FOLD_RULES];
	size_t n;
};

/* Counts the findings of a file, which must be sorted. Must be called for all
 * files before the first fold_findings(). */
void fold_count(struct fold *fold, const struct finding *findings, size_t n);
/*
 * Returns the findings without the folded ones, and sets *n to their number.
 * Copies are made in the arena; the copy of a rule's first finding has the
 * number of the others.
 */
const struct finding *fold_findings(struct fold *fold, struct arena *arena,
				    const struct finding *findings, size_t *n);

#endif
