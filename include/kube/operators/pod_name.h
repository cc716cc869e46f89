/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names that the pods of an object have in the cluster's DNS.
 */
#ifndef KUBE_POD_NAME_H
#define KUBE_POD_NAME_H

#include "base/arena.h"
#include "kube/object.h"

/* Returns the reason why no pod of the pod's object has this name of a first
 * pod, or NULL. */
const char *pod_name_unresolved(struct arena *arena, const struct pod *pod,
				const char *value);

#endif
