/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --add-ignore: a comment above each line with findings. Nothing else of the
 * file changes, and nothing of its meaning: the documents are compared before
 * anything is written, and a comment that would end up inside a text is left
 * out.
 */
#ifndef LINT_ADD_IGNORE_H
#define LINT_ADD_IGNORE_H

#include "base/buf.h"
#include "doc/source.h"
#include "engine/finding.h"
#include "engine/policy.h"

struct add_ignore {
	const char *reason;
	const struct policy *policy; /* of the file: which rules are locked */
	struct source *source;
	struct finding *findings;
	size_t n;
	struct buf text; /* out: the new file, empty when it stays as it is */
	size_t added;	 /* out: findings that have a comment now */
	const char *refused; /* out: why some have none, or NULL */
};

/*
 * Make the new text. Findings with a comment are marked as suppressed; the
 * caller writes the text and releases it.
 */
void add_ignore_plan(struct add_ignore *add);

#endif
