/* SPDX-License-Identifier: Apache-2.0 */
/* Constraints of data/native_constraints.tsv. */
#ifndef RULES_KUBE_CONSTRAINT_H
#define RULES_KUBE_CONSTRAINT_H

#include "base/arena.h"
#include "doc/node.h"
#include "native.h"

struct constraint_check {
	/* text: "`maxSkew` must be at least 1, not 0" */
	void (*found)(struct constraint_check *check, const struct node *at,
		      const char *text);
	struct arena *arena; /* of the texts */
	void *context;
	bool partial; /* a union without a member may be completed later */
};

/* Checks a value that is set. */
void constraint_check(struct constraint_check *check, const struct node *value,
		      const struct native_constraint *constraint);

#endif
