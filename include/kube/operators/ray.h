/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers for rules about KubeRay's kinds. */
#ifndef KUBE_RAY_H
#define KUBE_RAY_H

#include "kube/object.h"

/* Returns the RayJobSpec of a RayJob or a RayCronJob, or NULL. */
const struct node *ray_job_spec(const struct object *object);
/* Results of a job (bits) after which its deletionStrategy leaves the cluster
 * running. */
enum { RAY_KEPT_SUCCESS = 1, RAY_KEPT_FAILURE = 2 };
/* Returns the number of GPUs in rayStartParams and sets *at to its node; -1 if
 * it is not set or not a number. */
int64_t ray_num_gpus(const struct pod *pod, const struct node **at);
/* Returns the number of pods of a worker group in one cluster. If max is set
 * and the group autoscales, it is the largest number. */
struct amount ray_group_pods(const struct node *group, bool max);

#endif
