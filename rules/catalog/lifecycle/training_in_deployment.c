/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports training in a Deployment, a StatefulSet or a similar kind, whose pods
 * always restart: training that has succeeded starts again, and a failing one
 * is retried without limit. Skips commands that sleep or loop, possibly after
 * the training, because they do not end. The rule guesses from the arguments of
 * the command that it trains. Source: apps/v1 types.go (restartPolicy must be
 * Always).
 */
#include "engine/rule.h"
#include "kube/command/command.h"
#include "kube/lifecycle/lifecycle.h"

static const struct container *restarted(const struct pod *pod)
{
	const struct container *c;

	if (pod->flat || pod->restart != RESTART_ALWAYS ||
	    pod_uses_gpu(pod) != TRI_YES)
		return NULL;
	c = pod_trainer(pod);
	return c && !container_goes_on(c) ? c : NULL;
}

/* Reports the first pod that trains. A leader and its workers are one training
 * job. */
static void check(struct rule_run *run, const struct object *object)
{
	if (object->class != KIND_SERVICE)
		return;
	FOR_EACH_POD(object, pod) {
		const struct container *c = restarted(pod);

		if (!c)
			continue;
		report_container(
			run, c, container_command_node(c),
			"a %s restarts this training run after it has ended",
			object->kind);
		return;
	}
}

const struct rule rule_training_in_deployment = {
	.name = "training-in-deployment",
	.category = "lifecycle",
	.severity = SEVERITY_WARNING,
	.flags = RULE_GUESS,
	.scope = GPU_PODS,
	.summary = "training runs in a Deployment, StatefulSet or similar kind",
	.why = "Such pods always restart: finished training starts over, and failing training never stops.",
	.remedy =
		"Run it as a Job, a JobSet or a training kind (PyTorchJob, TrainJob).",
	.evidence =
		"https://github.com/kubernetes/api/blob/master/apps/v1/types.go: the only allowed restartPolicy is Always",
	.check_object = check,
};
