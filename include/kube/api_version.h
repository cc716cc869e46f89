/* SPDX-License-Identifier: Apache-2.0 */
/* Versions of kinds that API servers no longer serve. */
#ifndef KUBE_API_VERSION_H
#define KUBE_API_VERSION_H

#include "kube/object.h"

struct removed_version {
	const char *kind, *group;
	const char *version; /* NULL: all of them */
	int since;	     /* Kubernetes 1.N; 0: a CRD of an operator */
};

/* The object's own version if it was removed; NULL if it is served or
 * unknown. */
const struct removed_version *object_removed_version(const struct object *o);
/* True if no supported release serves it. */
bool version_is_gone(const struct removed_version *removed);

#endif
