/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kubeflow Trainer v2. A TrainJob has fields in place of a pod template; the
 * runtime, which is another object, brings the rest: what the fields leave
 * unset is not known, and the runtime may carry a scheduling policy.
 *
 * Source: trainer pkg/apis/trainer/v1alpha1/trainjob_types.go.
 */
#include "rules/kube/operator.h"

#include <string.h>

/* TrainJob: unset is the runtime's number, which is at least one. */
COUNT_FORMULA(nodes)
{
	if (node_is_unset(at))
		return (struct amount){.n = 1, .unknown = true};
	return amount_int(at, 1);
}

/* Resources that are unset are those of the runtime. */
static void gpus(struct pod_builder *builder, struct pod *pod)
{
	if (node_is_unset(node_path(pod->spec, "trainer.resourcesPerNode")))
		pod->gpu_unknown = true;
}

static struct gang gang(const struct object *object)
{
	struct gang out = gang_of_all(object);

	if (strcmp(object->kind, "TrainJob"))
		return gang_none(object);
	out.by_operator = true;
	return out;
}

const struct operator operator_trainer = {
	.gpus = gpus,
	.gang = gang,
	.has_runtime = true,
};
