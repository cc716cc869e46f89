/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers for rules about KubeRay's kinds. */
#ifndef KUBE_RAY_H
#define KUBE_RAY_H

#include "kube/object.h"

/* RayJobSpec of a RayJob or a RayCronJob, or NULL. */
const struct node *ray_job_spec(const struct object *object);
/* RayClusterSpec of a RayCluster or a RayJob, or NULL. */
const struct node *ray_cluster_spec(const struct object *object);
/* RayClusterSpec around the pod's group, or NULL. */
const struct node *pod_ray_cluster(const struct pod *pod);
/* The ends of a job after which its deletionStrategy leaves the cluster
 * running: bits. */
enum { RAY_KEPT_SUCCESS = 1, RAY_KEPT_FAILURE = 2 };
/* GPUs that rayStartParams say (*at: where), or -1. */
int64_t ray_num_gpus(const struct pod *pod, const struct node **at);
/* GPUs of a cluster as Ray counts them: KubeRay passes on those of `num-gpus`,
 * or of the first container's limits. */
struct ray_gpus {
	int64_t node; /* of its largest node */
	int64_t all;  /* of all nodes that it may have */
};

/* False: it has none, or they are not known. */
bool ray_gpus(const struct object *object, struct ray_gpus *out);
/* Is it a head whose dashboard others may reach, and that asks them for no
 * token (Ray 2.52 and later)? */
bool ray_dashboard_is_open(const struct pod *pod);

#endif
