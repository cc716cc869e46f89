/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of objects of single operators, for their rules. */
#ifndef KUBE_OPERATORS_H
#define KUBE_OPERATORS_H

#include "doc/node.h"
#include "kube/object.h"

/* Helpers for rules about Kubeflow's training kinds. */

/* True for the training kinds (PyTorchJob, TFJob, ...) and the MPIJobs of both
 * operators. */
bool object_is_kubeflow(const struct object *object);
/* True for an MPIJob of the MPI operator, whose launcher is a batch/v1 Job. */
bool object_is_mpi_v2(const struct object *object);
/* True if the launcher is run by a batch Job, which retries 6 times by default:
 * mpi-operator v2beta1 and v1alpha2 (newLauncher()). */
bool object_launches_by_job(const struct object *object);
/* True if its controller always stops the workers when the job has ended. */
bool object_stops_workers(const struct object *object);
/*
 * True if a limit on retries or time would make the job leave pods behind,
 * although without it the job ends with its last pod: workers without a master,
 * which are restarted until all have succeeded (PyTorchJob, cleanPodPolicy
 * None).
 */
bool object_leaks_if_bounded(const struct object *object);
/* True if the launcher starts before the workers are ready. */
bool object_launches_early(const struct object *object);

/* Helpers for rules about KubeRay's kinds. */

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

/* Helpers for rules about Volcano Jobs. */

/* True if an entry of `policies` handles the event, by `event` or `events`. `*`
 * matches any event (pkg/controllers/job/job_controller_util.go,
 * applyPolicies). */
bool volcano_policy_is(const struct node *policy, const char *event);

#endif
