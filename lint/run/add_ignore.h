/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --add-ignore: a comment above each line with findings. Nothing else in the
 * file changes, nor does its meaning: the documents are compared before
 * anything is written, and a comment that would become part of a string is left
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
	const struct policy *policy; /* of the file; it locks rules */
	struct source *source;
	struct finding *findings;
	size_t n;
	struct buf text;     /* out: the new file; empty if it is unchanged */
	size_t added;	     /* out: number of findings with a new comment */
	const char *refused; /* out: why some findings get none, or NULL */
};

/*
 * Makes the new text. Findings with a comment are marked as suppressed; the
 * caller writes the text and releases it.
 */
void add_ignore_plan(struct add_ignore *add);

#endif
