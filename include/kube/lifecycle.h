/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What bounds a run: where each kind keeps its deadline, its retries and its
 * time to live, which pods are made by a batch/v1 Job inside another kind,
 * and whether a pod may stand on capacity that can be taken away.
 */
#ifndef KUBE_LIFECYCLE_H
#define KUBE_LIFECYCLE_H

#include <stdbool.h>

#include "kube/object.h"

/* The API server itself checks the pod templates of this kind. */
bool object_pods_are_native(const struct object *object);
bool object_is(const struct object *object, const char *group,
	       const char *kind);
/* Runs to an end: Jobs of all sorts, RayJobs. */
bool object_ends(const struct object *object);
/* Batch/v1 Job or CronJob: their JobSpec is checked by the API server. */
bool object_is_job(const struct object *object);
/* PyTorchJob, TFJob, ..., MPIJob of either operator. */
bool object_is_kubeflow(const struct object *object);
/* MPIJob of the MPI operator: its launcher is a batch/v1 Job. */
bool object_is_mpi_v2(const struct object *object);
/* The first pod that surely has a GPU and is no infrastructure, or NULL. */
const struct pod *object_gpu_pod(const struct object *object);
/* The first pod whose failures start it again, or NULL. */
const struct pod *object_restarting_pod(const struct object *object);
/* Kueue holds it back until it fits; the parents' labels count too. */
bool object_is_queued(const struct object *object);
/* Suspended, or inside something suspended. */
bool object_is_suspended(const struct object *object);

/* Somebody's, by its own words or by what will be filled in. */
bool pod_is_owned(const struct pod *pod);
/* The JobSpec that makes this pod (JobSet, runtimes too), or NULL. */
const struct node *pod_job_spec(const struct pod *pod);

enum run_field { RUN_RETRIES, RUN_DEADLINE, RUN_TTL, RUN_FIELDS };

/* The map of a kind that holds those fields, and what they are called. */
struct run_policy {
	const char *path;		/* "spec.runPolicy" */
	const struct node *holder;	/* NULL: the map is not there */
	const char *fields[RUN_FIELDS]; /* NULL: the kind has no such field */
};
/* False for kinds without any of them. */
bool object_run_policy(const struct object *object, struct run_policy *out);
/*
 * The field's value; NULL when it is not set. Kubeflow's operators before
 * runPolicy had the fields in spec: those count as set.
 */
const struct node *run_policy_get(const struct object *object,
				  const struct run_policy *policy,
				  enum run_field field);
/* The deadline of the pod's Job, else of its object; NULL: none is set. */
const struct node *pod_run_deadline(const struct pod *pod);

/* RayJobSpec of a RayJob or a RayCronJob, or NULL. */
const struct node *ray_job_spec(const struct object *object);

/*
 * KServe merges the container with one of a preset or of a serving runtime,
 * which may bring probes that the manifest does not show.
 */
bool container_is_merged(const struct container *c);

/* What lets the pod stand on spot or preemptible nodes, or NULL. */
const struct node *pod_spot(const struct pod *pod);
/*
 * Retries without end that a field asks for (Argo's retryStrategy without a
 * limit, Spark's Always, JobSet's IgnoreMaxRestarts), or NULL.
 */
const struct node *pod_endless_retry(const struct pod *pod);

#endif
