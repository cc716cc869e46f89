/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names that the pods of an object have in the cluster's DNS.
 */
#ifndef KUBE_POD_NAME_H
#define KUBE_POD_NAME_H

#include "base/arena.h"
#include "kube/object.h"

/* Returns the reason why an address in the pod's manifest names no pod of the
 * pod's object. Returns NULL if it may name one, or if it is the address of
 * something else. */
const char *pod_name_unresolved(struct arena *arena, const struct pod *pod,
				const char *value);

#endif
