/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What rules about KubeRay's kinds ask.
 */
#ifndef KUBE_RAY_H
#define KUBE_RAY_H

#include "kube/object.h"

/* RayJobSpec of a RayJob or a RayCronJob, or NULL. */
const struct node *ray_job_spec(const struct object *object);
/* RayClusterSpec of a RayCluster or a RayJob, or NULL. */
const struct node *ray_cluster_spec(const struct object *object);
/* Is it a head whose dashboard asks for no token (Ray 2.52 and later)? */
bool ray_dashboard_is_open(const struct pod *pod);

#endif
