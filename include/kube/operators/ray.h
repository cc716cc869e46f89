/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers for rules about KubeRay's kinds. */
#ifndef KUBE_RAY_H
#define KUBE_RAY_H

#include "kube/object.h"

/* The RayJobSpec of a RayJob or a RayCronJob, or NULL. */
const struct node *ray_job_spec(const struct object *object);
/* The RayClusterSpec of a RayCluster or a RayJob, or NULL. */
const struct node *ray_cluster_spec(const struct object *object);
/* The RayClusterSpec around the pod's group, or NULL. */
const struct node *pod_ray_cluster(const struct pod *pod);
/* Results of a job after which its deletionStrategy keeps the cluster running:
 * bits. */
enum { RAY_KEPT_SUCCESS = 1, RAY_KEPT_FAILURE = 2 };
/* Number of GPUs in rayStartParams (*at: its place), or -1. */
int64_t ray_num_gpus(const struct pod *pod, const struct node **at);
/* GPUs of a cluster as Ray counts them: KubeRay passes on `num-gpus`, or the
 * number in the first container's limits. */
struct ray_gpus {
	int64_t node; /* of its largest node */
	int64_t all;  /* of the largest number of nodes */
};

/* Returns false if it has none or they are unknown. */
bool ray_gpus(const struct object *object, struct ray_gpus *out);
/* True if it is a head whose dashboard others may reach without a token (Ray
 * 2.52 and later can require one). */
bool ray_dashboard_is_open(const struct pod *pod);

#endif
