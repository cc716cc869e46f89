/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slurm on Kubernetes (Slinky): counts the pods of a NodeSet, a set of Slurm
 * nodes. The container `slurmd` of the spec is merged into the template of its
 * pods.
 *
 * Sources: slurm-operator api/v1beta1 nodeset_types.go (scalingMode DaemonSet
 * ignores replicas), internal/builder/workerbuilder worker_app.go (probes).
 */
#include "rules/kube/operator.h"

/* Counts Slurm nodes. With scalingMode DaemonSet, each matching node gets a
 * pod, so the number is at least one. */
COUNT_FORMULA(slurm_nodes)
{
	if (node_eq(node_get(at, "scalingMode"), "DaemonSet"))
		return (struct amount){.n = 1, .unknown = true};
	return amount_field(at, "replicas", 1);
}

const struct workload_operator operator_slinky = {0};
