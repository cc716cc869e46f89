/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers for rules about JobSets. */
#ifndef KUBE_JOBSET_H
#define KUBE_JOBSET_H

#include "base/arena.h"
#include "kube/object.h"

/*
 * Returns the reason why the address of a pod of this JobSet
 * ("NAME-JOB-0-0.SUBDOMAIN:29400") cannot be resolved, in words that follow a
 * colon. Returns NULL if it can be resolved, if it is not the address of one of
 * its pods, or if that is unknown.
 */
const char *jobset_unresolved(struct arena *arena, const struct object *object,
			      const char *address);

#endif
