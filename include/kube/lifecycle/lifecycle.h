/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bounds of a run: each kind's fields for its deadline, its retries and its
 * time to live, and the pods of a batch/v1 Job inside another kind.
 */
#ifndef KUBE_LIFECYCLE_H
#define KUBE_LIFECYCLE_H

#include <stdbool.h>

#include "kube/object.h"

/* True for kinds that run to an end: Jobs of all sorts, RayJobs. */
bool object_ends(const struct object *object);
/* Returns the number of its pods that use GPUs, in the steady state. */
struct amount object_gpu_pods(const struct object *object);
/* True for a batch/v1 Job or CronJob: the API server checks their JobSpec. */
bool object_is_job(const struct object *object);
/* The first pod that certainly has a GPU and is not infrastructure, or NULL. */
const struct pod *object_gpu_pod(const struct object *object);
/* Returns the device of that pod for messages: pod_device(). */
const char *object_device(const struct object *object);
/* True if Kueue holds it back until it fits; the parents' labels count too. */
bool object_is_queued(const struct object *object);
/* True if it is suspended, or inside of something suspended. */
bool object_is_suspended(const struct object *object);

/* True if the pod names an owner, or a placeholder may fill one in. */
bool pod_is_owned(const struct pod *pod);
/* The JobSpec that makes this pod (JobSet, runtimes too), or NULL. */
const struct node *pod_job_spec(const struct pod *pod);

enum run_field { RUN_RETRIES, RUN_DEADLINE, RUN_TTL, RUN_FIELDS };

/* The map of a kind that has these fields, and their names. */
struct run_policy {
	const char *path;		/* "spec.runPolicy" */
	const struct node *holder;	/* NULL: the map is missing */
	const char *fields[RUN_FIELDS]; /* NULL: the kind has no such field */
	const char *before; /* their place in earlier versions, or NULL */
	bool has_runtime;   /* a runtime may set a deadline as well */
};
/* Returns false for kinds without any of them. */
bool object_run_policy(const struct object *object, struct run_policy *out);
/* Place of a missing field: its map, else the nearest parent. */
const struct node *run_policy_place(const struct object *object,
				    const struct run_policy *policy);
/*
 * The field's value; NULL if it is not set. Kubeflow's operators before
 * runPolicy had the fields in spec, which count as well.
 */
const struct node *run_policy_get(const struct object *object,
				  const struct run_policy *policy,
				  enum run_field field);
/* The deadline of the pod's Job, else of its object; NULL if none is set. */
const struct node *pod_run_deadline(const struct pod *pod);

/*
 * True if KServe merges the container with one of a preset or of a serving
 * runtime, which may add probes that are not in the manifest.
 */
bool container_is_merged(const struct container *c);

#endif
