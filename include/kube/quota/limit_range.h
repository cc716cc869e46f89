/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LimitRanges of a cluster, as LimitRanger applies them to containers.
 */
#ifndef KUBE_LIMIT_RANGE_H
#define KUBE_LIMIT_RANGE_H

#include "kube/cluster/cluster.h"
#include "kube/object.h"

/*
 * The default of type Container, not zero, for an extended resource that the
 * container does not name: its entry (key: the resource), and the LimitRange
 * that gives it. NULL: none, or no cluster.
 */
const struct node *limit_range_default(const struct cluster *cluster,
				       const struct container *container,
				       struct arena *arena, const char **range);
/* True if a LimitRange of the namespace gives containers a default of the
 * resource, as a request or a limit. */
bool limit_range_defaults(const struct cluster *cluster, const char *namespace,
			  const char *resource, struct arena *arena);

#endif
