/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --add-ignore: a comment above each line with findings. Nothing else in the
 * file changes, and its meaning stays: the documents are compared before the
 * file is written, and a comment that would become part of a string is omitted.
 */
#ifndef LINT_ADD_IGNORE_H
#define LINT_ADD_IGNORE_H

#include "base/buf.h"
#include "doc/source.h"
#include "engine/finding.h"
#include "engine/policy.h"

struct add_ignore {
	const char *reason;
	/* policy of the file, which may lock rules */
	const struct policy *policy;
	struct source *source;
	struct finding *findings;
	size_t n;
	/* The results. */
	struct buf text; /* the new text; empty if unchanged */
	size_t added;	 /* number of findings with a new comment */
	/* reason why some findings get no comment, or NULL */
	const char *refused;
};

/*
 * Makes the new text, and marks findings with a comment as suppressed. Sets
 * refused if some findings get no comment. The caller writes the text and
 * releases it.
 */
void add_ignore_plan(struct add_ignore *add);

#endif
