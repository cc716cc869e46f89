/* SPDX-License-Identifier: Apache-2.0 */
/* API versions that Kubernetes or an operator removed. */
#ifndef KUBE_API_VERSION_H
#define KUBE_API_VERSION_H

#include "kube/object.h"

struct removed_version {
	const char *kind, *group;
	const char *version; /* NULL: all versions */
	/* N if Kubernetes 1.N removed it, or 0 for a CRD, which its operator
	 * removed */
	int since;
	const char *only; /* the only operator that serves it, or NULL */
};

/* Returns the removed version of the object; NULL if its version is served or
 * unknown. */
const struct removed_version *object_removed_version(const struct object *o);
/* True if Kubernetes itself had this version and no supported release serves it
 * any more. False for CRDs. */
bool version_is_gone(const struct removed_version *removed);

#endif
