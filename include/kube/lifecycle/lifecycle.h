/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits on a run: the fields of each kind for its deadline, its retries and
 * its time to live, and the JobSpecs that other kinds contain. Also finds the
 * object's GPU pods, and whether it ends, is queued or is suspended, and the
 * priority of pods.
 */
#ifndef KUBE_LIFECYCLE_H
#define KUBE_LIFECYCLE_H

#include <stdbool.h>

#include "kube/object.h"

/* True for kinds that run to completion: all kinds of jobs, RayJobs. */
bool object_ends(const struct object *object);
/* Returns the number of the object's pods, in the steady state, that certainly
 * use GPUs and are not infrastructure. */
struct amount object_gpu_pods(const struct object *object);
/* True for a batch/v1 Job or CronJob, whose JobSpec the API server
 * validates. */
bool object_is_job(const struct object *object);
/* Returns the first pod that certainly has a GPU and is not infrastructure, or
 * NULL. */
const struct pod *object_gpu_pod(const struct object *object);
/* Returns pod_device() of object_gpu_pod(), for messages; "GPU" if there is
 * none. */
const char *object_device(const struct object *object);
/* True if Kueue holds the object back until it fits. Labels of its parents
 * count too. */
bool object_is_queued(const struct object *object);
/* True if the object is suspended, or is part of a suspended object. */
bool object_is_suspended(const struct object *object);

/* Returns the main container that trains, in a pod that does: the first one
 * with a training command, else the only one with a command. Returns NULL if
 * there is none. */
const struct container *pod_trainer(const struct pod *pod);
/* True if the pod has an owner reference, or a placeholder that may become one,
 * or if it is the template of an object of unknown kind. */
bool pod_is_owned(const struct pod *pod);
/* Returns the JobSpec from which this pod is made (also inside of other kinds,
 * such as a JobSet), or NULL. */
const struct node *pod_job_spec(const struct pod *pod);

enum run_field { RUN_RETRIES, RUN_DEADLINE, RUN_TTL, RUN_FIELDS };

/* The map that contains a kind's fields of enum run_field, and their names. */
struct run_policy {
	const char *path;		/* path of the map: "spec.runPolicy" */
	const struct node *holder;	/* NULL: the map is missing */
	const char *fields[RUN_FIELDS]; /* NULL: the kind lacks the field */
	const char *before; /* path of the map in earlier versions, or NULL */
	bool has_runtime;   /* a runtime may set a deadline as well */
};
/* Sets *out to the fields of the object's kind. Returns false if the kind has
 * none of them. */
bool object_run_policy(const struct object *object, struct run_policy *out);
/* Returns the place of a missing field: its map, else the spec, else the root
 * of the object. */
const struct node *run_policy_place(const struct object *object,
				    const struct run_policy *policy);
/*
 * Returns the value of the field; NULL if it is not set. Versions of Kubeflow's
 * operators before runPolicy had the fields in spec, which is read as well.
 */
const struct node *run_policy_get(const struct object *object,
				  const struct run_policy *policy,
				  enum run_field field);
/* Returns the deadline of the pod's Job, or else of its object; NULL if none is
 * set. */
const struct node *pod_run_deadline(const struct pod *pod);

/*
 * True if the operator merges the container with one of a preset or of a
 * runtime, which may add probes.
 */
bool container_is_merged(const struct container *c);

/*
 * Priority classes of pods: their source, which is priorityClassName or a field
 * or label that the operator copies to it (listed in lifecycle.c), other fields
 * that order a workload in a queue, and the system's classes.
 */

/* Returns the node with the name of the pod's priority class, which may be
 * unknown; NULL if it has none. */
const struct node *pod_priority_class(const struct pod *pod);
/*
 * Returns another field that orders the workload in a queue: Kueue's
 * priority-class label, or a Kubeflow schedulingPolicy.priorityClass. It leaves
 * the priority of the Pods at 0. NULL if there is none.
 */
const struct node *pod_queue_priority(const struct pod *pod);
/* True if a pod without a class may get its priority elsewhere, or cannot have
 * a class: a TrainJob's pod template belongs to its runtime, some kinds lack
 * the field, KAI's PodGroups have their own default, and Cloud Run has no
 * classes. */
bool pod_priority_is_elsewhere(const struct pod *pod);
/* True for system-cluster-critical and system-node-critical. */
bool priority_class_is_system(const char *name);
/* Returns the value that Kubernetes defines for such a class, or 0. */
int64_t priority_class_system_value(const char *name);

#endif
