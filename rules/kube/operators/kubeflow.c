/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The training operator's kinds, MPI Operator's MPIJob, and kinds built on the
 * same types: numbers of elastic workers, the pods that start together, and
 * roles. The operator makes a PodGroup only if it runs with a gang scheduler,
 * which a manifest shows by its scheduling policy. Sources: training-operator
 * kubeflow.org/v1 common_types.go (RunPolicy), pkg/core/pod.go (the replica's
 * policy overwrites the template's); mpi-operator v2beta1.
 */
#include "rules/kube/operator.h"

#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "kube/operators.h"

/*
 * Counts elastic workers. If elasticPolicy.metrics is set, the operator creates
 * an HPA that scales them. Otherwise the number of replicas is fixed.
 */
COUNT_FORMULA(elastic)
{
	const struct node *policy =
		node_path(place->object->root, "spec.elasticPolicy");
	struct amount replicas = amount_field(at, "replicas", 1);

	if (!field_is_set(policy, "metrics") || !at->key ||
	    strcmp(at->key, "Worker"))
		return replicas;
	return amount_max(replicas,
			  amount_field(policy, "maxReplicas", replicas.n));
}

static struct gang gang(const struct object *object)
{
	const struct node *spec = node_get(object->root, "spec");
	const struct node *least =
		node_path(spec, "runPolicy.schedulingPolicy.minAvailable");
	const struct node *elastic = node_get(spec, "elasticPolicy");
	struct gang out = {.n = gang_sum(object), .needed = true};

	if (!node_is_unset(least)) {
		out.n = amount_int(least, 0);
		return out;
	}
	if (node_is_unset(elastic))
		return out;
	least = node_get(elastic, "minReplicas");
	if (node_is_unset(least))
		least = node_get(elastic, "maxReplicas");
	if (node_is_unset(least))
		return out;
	out.n = amount_int(least, 1);
	FOR_EACH_POD(object, pod)
		if (strcasecmp(pod->role, "Worker"))
			out.n = amount_add(out.n, pod->steady);
	return out;
}

bool object_is_kubeflow(const struct object *object)
{
	return object->class == KIND_TRAINING &&
	       text_eq(object->group, "kubeflow.org");
}

bool object_is_mpi_v2(const struct object *object)
{
	return object_is(object, "kubeflow.org", "MPIJob") &&
	       text_eq(object->version, "v2beta1");
}

bool object_launches_by_job(const struct object *object)
{
	return object_is_mpi_v2(object) ||
	       (object_is(object, "kubeflow.org", "MPIJob") &&
		text_eq(object->version, "v1alpha2"));
}

/* True if the workers stop with the launcher. v1alpha1 has no cleanPodPolicy.
 * Once the launcher has finished, allocateProcessingUnits() of mpi-operator
 * pkg/controllers/v1alpha1 mpi_job_controller.go sets the number of workers to
 * 0. */
bool object_stops_workers(const struct object *object)
{
	return object_is(object, "kubeflow.org", "MPIJob") &&
	       text_eq(object->version, "v1alpha1");
}

bool object_leaks_if_bounded(const struct object *object)
{
	const struct node *spec = node_get(object->root, "spec");
	const struct pod *pod = object->pods;

	return object_is_kubeflow(object) && !object_stops_workers(object) &&
	       object->npods == 1 && text_eq(pod->role, "Worker") &&
	       pod->restart == RESTART_ON_FAILURE &&
	       (pod->steady.n > 1 || pod->steady.unknown) &&
	       node_is_unset(node_get(spec, "elasticPolicy")) &&
	       node_is_unset(node_get(spec, "cleanPodPolicy")) &&
	       node_is_unset(node_path(spec, "runPolicy.cleanPodPolicy"));
}

/* In mpi-operator v2beta1/types.go, AtStartup is the default. */
bool object_launches_early(const struct object *object)
{
	return object_is_mpi_v2(object) &&
	       !node_eq(node_path(object->root, "spec.launcherCreationPolicy"),
			"WaitForWorkersReady");
}

static bool is_launcher(const struct pod *pod)
{
	const struct node *spec = node_get(pod->object->root, "spec");

	return object_is(pod->object, "kubeflow.org", "MPIJob") &&
	       !strcmp(pod->role, "Launcher") &&
	       !node_is_true(node_get(spec, "runLauncherAsWorker"));
}

/* The training operator uses AddResourceList(); mpi-operator uses limits. */
static enum summed_requests sums_requests(const struct object *object)
{
	return object_is_kubeflow(object) && text_eq(object->version, "v1")
		       ? REQUESTS_WHERE_SET
		       : REQUESTS_NOT_SUMMED;
}

static bool loads_in_threads(const struct object *object)
{
	return !strcmp(object->kind, "TFJob") ||
	       !strcmp(object->kind, "XGBoostJob");
}

/* Workers of a PyTorchJob with a master wait for it in an init container that
 * sets cpu and memory (pkg/controller.v1/pytorch/initcontainer.go). */
static bool adds_helper(const struct pod *pod)
{
	return text_eq(pod->object->kind, "PyTorchJob") &&
	       text_eq(pod->role, "Worker") &&
	       object_has_role(pod->object, "Master");
}

const struct workload_operator operator_kubeflow = {
	.pods.adds_helper = adds_helper,
	.sums_requests = sums_requests,
	.gang = gang,
	.makes_pod_groups = true,
	/* Versions before runPolicy had the fields in spec. */
	.runs_before = "spec",
	.is_launcher = is_launcher,
	.ranks_are_equal = true,
	.starts_ranks_elsewhere = true,
	.loads_in_threads = loads_in_threads,
};
