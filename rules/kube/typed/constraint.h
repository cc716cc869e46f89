/* SPDX-License-Identifier: Apache-2.0 */
/* Checks values against the constraints of data/native_constraints.tsv. */
#ifndef RULES_KUBE_CONSTRAINT_H
#define RULES_KUBE_CONSTRAINT_H

#include "base/arena.h"
#include "doc/node.h"
#include "native.h"

struct constraint_check {
	/* text is a message: "`maxSkew` must be at least 1, not 0". */
	void (*found)(struct constraint_check *check, const struct node *at,
		      const char *text);
	struct arena *arena; /* memory of the texts */
	void *context;
	/* field-unknown reports fields that the types lack */
	bool reports_unknown;
	bool partial; /* another object may add the missing member of a union */
};

/* Checks the values of a map against the constraints of its type. Unknown
 * values are skipped. */
void constraint_check_map(struct constraint_check *check,
			  const struct node *map,
			  const struct native_type *type);

#endif
