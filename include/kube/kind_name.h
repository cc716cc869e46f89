/* SPDX-License-Identifier: Apache-2.0 */
/* Misspelled kinds, and kinds in a group that lacks them. */
#ifndef KUBE_KIND_NAME_H
#define KUBE_KIND_NAME_H

#include "kube/object.h"

enum kind_fault {
	KIND_NO_FAULT,
	KIND_MISSPELLED, /* differs in case, or unknown in a known group */
	KIND_ELSEWHERE,	 /* another group has it */
};

struct kind_meant {
	const char *kind, *group;
	const char *version; /* NULL: not known */
};

/* Sets *meant if there is a fault. No fault: the kind is known, or may
 * exist. */
enum kind_fault kind_fault(const struct object *object,
			   struct kind_meant *meant);

#endif
