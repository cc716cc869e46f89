/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports MPIJobs that the MPI Operator rejects. The controller validates the
 * object after the API server has stored it, and creates no pods. It skips jobs
 * of another `managedBy` first, so that check of the validator is not listed.
 * Source: pkg/apis/kubeflow/validation/validation.go at 11a4e478 and of the
 * releases 0.5 to 0.8, ValidateMPIJob().
 */
#include "engine/rule.h"

#define SPECS	"self.spec.mpiReplicaSpecs"
#define WORKERS SPECS ".?Worker.replicas.orValue(1)"
#define LAST	"string((" WORKERS " > 0 ? " WORKERS " : 1) - 1)"
#define NAME	"self.metadata.?name.orValue('')"

static const struct rejection items[] = {
	REJECTION("no-launcher", "MPIJob", "spec.mpiReplicaSpecs",
		  "has(" SPECS ".Launcher)", "'the MPIJob has no `Launcher`'"),
	REJECTION("launcher-replicas", "MPIJob",
		  "spec.mpiReplicaSpecs.Launcher.replicas",
		  "!has(" SPECS ".Launcher) || " SPECS
		  ".Launcher.?replicas.orValue(1) == 1",
		  "'`Launcher` has ' + string(" SPECS ".Launcher.replicas) +"
		  " ' replicas, not 1'"),
	REJECTION("worker-replicas", "MPIJob",
		  "spec.mpiReplicaSpecs.Worker.replicas",
		  "!has(" SPECS ".Worker) || " SPECS
		  ".Worker.?replicas.orValue(0) > 0",
		  "'`Worker` has ' + string(" SPECS
		  ".Worker.?replicas.orValue(0)) + ' replicas'",
		  .absent = true),
	REJECTION("slots", "MPIJob", "spec.slotsPerWorker",
		  "self.spec.?slotsPerWorker.orValue(1) >= 0",
		  "'`slotsPerWorker` is negative'"),
	REJECTION("clean-pod-policy", "MPIJob", "spec.runPolicy.cleanPodPolicy",
		  "self.spec.?runPolicy.cleanPodPolicy.orValue('None') in"
		  " ['None', 'Running', 'All']",
		  "'`cleanPodPolicy` is not None, Running or All'"),
	REJECTION("implementation", "MPIJob", "spec.mpiImplementation",
		  "self.spec.?mpiImplementation.orValue('OpenMPI') in"
		  " ['', 'OpenMPI', 'Intel', 'MPICH']",
		  "'`mpiImplementation` is not OpenMPI, Intel or MPICH'"),
	REJECTION("name", "MPIJob", "metadata.name",
		  NAME " == '' || (size(" NAME " + '-worker-' + " LAST
		       ") <= 63 && " NAME
		       ".matches('[$<{]|^[a-z][-a-z0-9]*$'))",
		  "'the pods cannot be named `' + " NAME " + '-worker-' + " LAST
		  " + '`, which is not a DNS label'",
		  .absent = true),
	{0},
};

static const struct rejections rejections = {
	.by = "the MPI Operator",
	"kubeflow.org",
	"v2beta1",
	items,
	.versions = "0.5 to 0.8",
	.component = OPERATOR_MPI,
};

const struct rule rule_mpijob_rejects = {
	.name = "mpijob-rejects",
	.category = "gang",
	.severity = SEVERITY_ERROR,
	.flags = RULE_ABSENCE,
	.summary = "an MPIJob that the MPI Operator rejects",
	.why = "The controller validates an MPIJob before it creates pods: the object is stored, an event contains the error, and no pod is created.",
	.evidence =
		"https://github.com/kubeflow/mpi-operator/blob/11a4e47835d5222504302eade4e353d7d07120ae/pkg/apis/kubeflow/validation/validation.go",
	.rejections = &rejections,
	.check_object = rule_check_rejections,
};
