/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports torchrun on several nodes in a PyTorchJob that gives it no address.
 * The operator sets MASTER_ADDR and a rank only if there is a Master, and
 * PET_RDZV_ENDPOINT only with an elasticPolicy; torchrun's own default is node
 * 0 at 127.0.0.1. Source: training-operator v1.9.4
 * pkg/controller.v1/pytorch/envvar.go (setPodEnv), torch/distributed/run.py.
 */
#include <string.h>

#include "engine/rule.h"
#include "kube/command/env.h"
#include "kube/command/parallel.h"

/* True if a flag or a variable may give torchrun an address or a rank. */
static bool has_rendezvous(const struct container *c)
{
	static const char *const flags[] = {"--rdzv", "--master", "--node",
					    "--standalone", NULL};
	static const char *const names[] = {
		"PET_RDZV_ENDPOINT", "PET_MASTER_ADDR", "PET_NODE_RANK", NULL};

	for (const char *const *flag = flags; *flag; flag++)
		if (container_says(c, *flag))
			return true;
	for (const char *const *name = names; *name; name++)
		if (container_env(c, *name) || container_env_from(c, *name))
			return true;
	return false;
}

static void check_container(struct rule_run *run, const struct container *c)
{
	struct parallel_list list = container_parallel(c);
	const struct degree *nodes;

	if (list.n != 1 || strcmp(list.items[0].program, "torchrun") != 0 ||
	    list.items[0].unknown || has_rendezvous(c))
		return;
	nodes = &list.items[0].degrees[DEGREE_NODES];
	if (nodes->given && !nodes->unknown && nodes->n > 1)
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
