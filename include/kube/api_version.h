/* SPDX-License-Identifier: Apache-2.0 */
/* Versions of kinds that API servers no longer have. */
#ifndef KUBE_API_VERSION_H
#define KUBE_API_VERSION_H

#include "kube/object.h"

struct removed_version {
	const char *kind, *group;
	const char *version; /* NULL: all of them */
	int since;	     /* Kubernetes 1.N; 0: of an operator's CRDs */
};

/* The object's own version, or NULL: it is served, or not known. */
const struct removed_version *object_removed_version(const struct object *o);
/* True if no supported release serves it. */
bool version_is_gone(const struct removed_version *removed);

#endif
