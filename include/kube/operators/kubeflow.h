/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers for rules about Kubeflow's training kinds. */
#ifndef KUBE_KUBEFLOW_H
#define KUBE_KUBEFLOW_H

#include "kube/object.h"

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

#endif
