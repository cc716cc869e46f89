/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SGLang counts the devices of all nodes in --tp, as vLLM does with Ray.
 */
#include <inttypes.h>

#include "engine/rule.h"
#include "kube/command/parallel.h"

/* Devices of one group, or 0. */
static int64_t group_devices(const struct object *object)
{
	struct amount replicas =
		amount_int(node_path(object->root, "spec.replicas"), 1);

	if (object->gpus.unknown || replicas.unknown || !replicas.n)
		return 0;
	return object->gpus.n / replicas.n;
}

static int64_t wanted(const struct parallel *server)
{
	const struct degree *tensor = &server->degrees[DEGREE_TENSOR];
	const struct degree *pipeline = &server->degrees[DEGREE_PIPELINE];

	if (!tensor->given || tensor->unknown || pipeline->unknown ||
	    server->degrees[DEGREE_DATA].given ||
	    server->degrees[DEGREE_LOCAL].given)
		return 0;
	return tensor->n * (pipeline->given ? pipeline->n : 1);
}

static void judge(struct rule_run *run, const struct container *c,
		  const struct parallel *server)
{
	int64_t want = wanted(server);
	int64_t has = group_devices(c->pod->object);
	struct finding *f;

	if (server->type != PARALLEL_SERVER || !want || !has || want == has ||
	    (want < has && server->unknown))
		return;
	f = report_container(run, c, server->degrees[DEGREE_TENSOR].node,
			     "%s spreads over %" PRId64
			     " %ss, a group of %" PRId64 " pods has %" PRId64,
			     server->program, want, pod_device(c->pod),
			     c->pod->object->gang.n, has);
	if (want > has)
		finding_severity(f, SEVERITY_ERROR);
}

static void check(struct rule_run *run, const struct pod *pod)
{
	if (!object_is(pod->object, "leaderworkerset.x-k8s.io",
		       "LeaderWorkerSet") ||
	    pod->object->gang.n < 2)
		return;
	FOR_EACH_CONTAINER(pod, c) {
		struct parallel_list list;

		if (!container_devices(c))
			continue;
		list = container_parallel(c);
		if (list.n == 1)
			judge(run, c, &list.items[0]);
	}
}

const struct rule rule_lws_size_mismatch = {
	.name = "lws-size-mismatch",
	.category = "gang",
	.severity = SEVERITY_WARNING,
	.flags = RULE_RAISES,
	.wants = FACT_GANG | FACT_DEVICES,
	.since = "1.0",
	.summary =
		"parallel sizes that do not multiply to the GPUs of the group",
	.why = "If the product is larger, the server waits for GPUs that never come; if it is smaller, some are idle.",
	.remedy =
		"Make tensor times pipeline parallel size equal the GPUs of all pods of the group.",
	.evidence =
		"https://docs.vllm.ai/en/latest/serving/parallelism_scaling/; https://lws.sigs.k8s.io/docs/examples/vllm/",
	.check_pod = check,
};
