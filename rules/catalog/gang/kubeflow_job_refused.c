/* SPDX-License-Identifier: Apache-2.0 */
/*
 * training-operator 1.9: pkg/webhooks, mpi_validation.go; mpi-operator:
 * pkg/apis/kubeflow/validation. No replicas: pytorchjob-worker-zero.
 */
#include <inttypes.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/operators/kubeflow.h"

static const struct single {
	const char *kind, *replicas;
	int64_t least; /* lower numbers are reported by another rule */
} singles[] = {
	{"PyTorchJob", "spec.pytorchReplicaSpecs.Master.replicas", 1},
	{"XGBoostJob", "spec.xgbReplicaSpecs.Master.replicas", 0},
	{"MPIJob", "spec.mpiReplicaSpecs.Launcher.replicas", 0},
};

static void check_single(struct rule_run *run, const struct object *object,
			 const struct single *single)
{
	const struct node *at;
	int64_t n;

	if (!text_eq(object->kind, single->kind))
		return;
	at = node_path(object->root, single->replicas);
	if (!node_int(at, &n) || n == 1 || n < single->least)
		return;
	report_object(run, object, at,
		      "the %s operator rejects %" PRId64
		      " replicas of `%s`: it requires exactly one",
		      object_is_mpi_v2(object) ? "MPI" : "training", n,
		      at->parent->key);
}

static void check_elastic(struct rule_run *run, const struct object *object)
{
	const struct node *spec = node_get(object->root, "spec");
	const struct node *elastic = node_get(spec, "elasticPolicy");
	const struct node *roles;
	const struct node *number;

	if (!node_is_map(elastic))
		return;
	roles = node_get(spec, "pytorchReplicaSpecs");
	number = node_get(elastic, "nProcPerNode");
	if (node_is_map(roles) && !node_get(roles, "Worker") &&
	    !object->fragment)
		report_object(
			run, object, elastic,
			"the training operator rejects a PyTorchJob with an elasticPolicy but no `Worker`");
	if (!node_is_unset(number) && !node_is_unknown(number) &&
	    !node_is_unset(node_get(spec, "nprocPerNode")) &&
	    !node_is_unknown(node_get(spec, "nprocPerNode")))
		report_object(
			run, object, number,
			"the training operator rejects elasticPolicy.nProcPerNode together with nprocPerNode");
}

static void check(struct rule_run *run, const struct object *object)
{
	if (!text_eq(object->group, "kubeflow.org"))
		return;
	for (size_t i = 0; i < sizeof(singles) / sizeof(*singles); i++)
		check_single(run, object, &singles[i]);
	if (text_eq(object->kind, "PyTorchJob"))
		check_elastic(run, object);
}

const struct rule rule_kubeflow_job_refused = {
	.name = "kubeflow-job-refused",
	.category = "gang",
	.severity = SEVERITY_ERROR,
	.since = "1.0",
	.summary = "a training job that its operator rejects",
	.why = "The webhook rejects the object, or the controller never starts its pods.",
	.remedy = "Change or remove the field named in the message.",
	.evidence =
		"https://github.com/kubeflow/trainer/tree/release-1.9/pkg/webhooks; https://github.com/kubeflow/mpi-operator/blob/master/pkg/apis/kubeflow/validation/validation.go",
	.check_object = check,
};
