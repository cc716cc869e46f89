/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of pods in the cluster's DNS.
 */
#ifndef KUBE_ADDRESS_H
#define KUBE_ADDRESS_H

#include <stddef.h>

#include "base/arena.h"
#include "kube/object.h"

/*
 * Returns the subdomain, of *len bytes, in an address of the first pod of a Job
 * or StatefulSet ("NAME-0.SUBDOMAIN:29500"), as a pointer into the address.
 * Returns NULL if the address has another form, contains a `$`, or may be that
 * of a Service or of a host outside of the cluster.
 */
const char *first_pod_subdomain(const struct object *object,
				const char *address, size_t *len);
/* Returns the end of the sentence "ADDRESS cannot be resolved", with the reason
 * why an address in the pod's manifest names no pod of the pod's object.
 * Returns NULL if it may name one, or if it is the address of something else.
 */
const char *pod_name_unresolved(struct arena *arena, const struct pod *pod,
				const char *value);

#endif
