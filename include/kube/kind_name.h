/* SPDX-License-Identifier: Apache-2.0 */
/* Misspelled kinds, and kinds that belong to another API group. */
#ifndef KUBE_KIND_NAME_H
#define KUBE_KIND_NAME_H

#include "kube/object.h"

enum kind_fault {
	KIND_NO_FAULT,
	/* differs only in case, or is similar to a native kind */
	KIND_MISSPELLED,
	KIND_ELSEWHERE, /* exists in another group */
};

struct kind_meant {
	const char *kind, *group;
	const char *version; /* NULL: unknown */
};

/* Returns the fault of the object's kind, and sets *meant to the kind that was
 * probably meant. Returns no fault if the kind is known or may exist. */
enum kind_fault kind_fault(const struct object *object,
			   struct kind_meant *meant);

#endif
