/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports model servers that need more GPUs than their container has. A server
 * needs the product of tensor, pipeline and data parallelism, because each rank
 * uses one device.
 */
#include "engine/rule.h"
#include "kube/command/command.h"
#include "kube/command/parallel.h"

/* True if the server can use only the devices of its container, because it runs
 * without Ray (which vLLM's multi-node-serving.sh starts) and not in a group of
 * pods, or because Ray runs in this container alone. */
static bool stands_alone(const struct container *c,
			 const struct parallel *server)
{
	const struct object *object = c->pod->object;
	struct argv argv = container_argv(c);

	if (server->alone)
		return true;
	return !object->pods_inferred && object->class != KIND_RAY &&
	       (server->one_pod ||
		(object->gang.n <= 1 && !object->gang.unknown)) &&
	       !argv_have(&argv, "ray") &&
	       !argv_have(&argv, "--ray-cluster-size");
}

static void check_server(struct rule_run *run, const struct container *c,
			 const struct parallel *server)
{
	const struct degree *by;
	int64_t n = parallel_devices(server, &by);
	int64_t has = container_devices(c);
	const char *device = pod_device(c->pod);
	struct finding *f;

	if (server->type != PARALLEL_SERVER || !by || !has || n <= has ||
	    !stands_alone(c, server))
		return;
	f = report_container(
		run, c, by->node,
		"%s spreads over %s (`%s` is %s), but container `%s` has %s%s",
		server->program, rule_count(run, n, device), by->by,
		rule_number(run, by->n), container_title(c),
		rule_number(run, has),
		server->alone ? ", and nothing starts Ray on other nodes" : "");
	if (server->alone)
		finding_help(
			run, f,
			"Run `ray start` before the server and in the other pods (vLLM's multi-node-serving.sh does), or lower the sizes.");
	if (server->versions || server->alone)
		finding_severity(f, SEVERITY_WARNING);
}

static void check(struct rule_run *run, const struct pod *pod)
{
	FOR_EACH_CONTAINER(pod, c) {
		struct parallel_list list;

		if (!container_devices(c))
			continue;
		list = container_parallel(c);
		/* With several commands, a condition in the script may select
		 * one. */
		if (list.n == 1)
			check_server(run, c, &list.items[0]);
	}
}

const struct rule rule_tensor_parallel_exceeds_gpus = {
	.name = "tensor-parallel-exceeds-gpus",
	.category = "parallelism",
	.severity = SEVERITY_ERROR,
	.summary =
		"a model server spreads over more GPUs than its container has",
	.why = "The server does not start, or it waits for GPUs that never come, and it is restarted again and again.",
	.remedy =
		"Request as many GPUs as the product of the parallel sizes, or lower the sizes.",
	.evidence =
		"https://github.com/vllm-project/vllm/issues/5450; https://github.com/vllm-project/vllm/issues/25263",
	.check_pod = check,
};
