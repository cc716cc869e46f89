/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LimitRanges of a cluster, as LimitRanger applies them to containers.
 */
#ifndef KUBE_LIMIT_RANGE_H
#define KUBE_LIMIT_RANGE_H

#include "kube/cluster/cluster.h"
#include "kube/object.h"

/* True if a LimitRange of the namespace gives containers a default of the
 * resource, as a request or a limit. */
bool limit_range_defaults(const struct cluster *cluster, const char *namespace,
			  const char *resource, struct arena *arena);

#endif
