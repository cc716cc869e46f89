/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers for rules about KubeRay's kinds. */
#ifndef KUBE_RAY_H
#define KUBE_RAY_H

#include "kube/object.h"

/* Returns the RayJobSpec of a RayJob or a RayCronJob, or NULL. */
const struct node *ray_job_spec(const struct object *object);
/* Returns the RayClusterSpec of a RayCluster or a RayJob, or NULL. */
const struct node *ray_cluster_spec(const struct object *object);
/* Returns the RayClusterSpec that contains the pod's group, or NULL. */
const struct node *pod_ray_cluster(const struct pod *pod);
/* Results of a job (bits) after which its deletionStrategy leaves the cluster
 * running. */
enum { RAY_KEPT_SUCCESS = 1, RAY_KEPT_FAILURE = 2 };
/* Returns the number of GPUs in rayStartParams and sets *at to its node; -1 if
 * it is not set or not a number. */
int64_t ray_num_gpus(const struct pod *pod, const struct node **at);
/* GPUs of a cluster as Ray counts them: KubeRay passes on `num-gpus`, or the
 * number in the limits of the first container. */
struct ray_gpus {
	int64_t node; /* GPUs of its largest node */
	int64_t all;  /* GPUs of the largest number of nodes */
};

/* Returns false if the cluster has none or they are unknown. */
bool ray_gpus(const struct object *object, struct ray_gpus *out);

#endif
