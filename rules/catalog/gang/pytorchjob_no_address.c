/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports torchrun on several nodes in a PyTorchJob that gives it no address.
 * The operator sets MASTER_ADDR and a rank only if there is a Master, and
 * PET_RDZV_ENDPOINT only with an elasticPolicy; torchrun's own default is node
 * 0 at 127.0.0.1. Source: training-operator v1.9.4
 * pkg/controller.v1/pytorch/envvar.go (setPodEnv), torch/distributed/run.py.
 */
#include "engine/rule.h"
#include "kube/command/parallel.h"

static void check_container(struct rule_run *run, const struct container *c)
{
	struct parallel_list list = container_parallel(c);
	const struct degree *nodes = torchrun_without_address(list, c);

	if (nodes)
		report_container(
			run, c, nodes->node,
			"without a Master, the operator sets no address: each pod is node 0 at 127.0.0.1, and the %s of torchrun never connect",
			rule_count(run, nodes->n, "node"));
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct node *spec = node_get(pod->object->root, "spec");
	const struct node *roles = node_get(spec, "pytorchReplicaSpecs");

	if (!object_is(pod->object, "kubeflow.org", "PyTorchJob") ||
	    node_is_unknown(roles) || node_get(roles, "Master") ||
	    node_get(spec, "elasticPolicy"))
		return;
	FOR_EACH_CONTAINER(pod, c)
		check_container(run, c);
}

const struct rule rule_pytorchjob_no_address = {
	.name = "pytorchjob-no-address",
	.category = "gang",
	.severity = SEVERITY_WARNING,
	.flags = RULE_ABSENCE,
	.scope = GPU_PODS,
	.summary = "torchrun in a PyTorchJob without a Master has no address",
	.why = "Each pod waits for the others at its own address and holds its GPUs until the rendezvous times out.",
	.remedy =
		"Add a Master, set elasticPolicy, or give torchrun --rdzv-backend=c10d and --rdzv-endpoint with the name of the first worker.",
	.evidence =
		"https://github.com/kubeflow/trainer/blob/v1.9.4/pkg/controller.v1/pytorch/envvar.go; https://docs.pytorch.org/docs/stable/elastic/run.html",
	.check_pod = check,
};
