/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports parallel sizes whose product is not the number of GPUs in the
 * LeaderWorkerSet's group. SGLang counts the devices of all nodes in --tp, as
 * vLLM does with Ray. A product above the number of GPUs is an error.
 */
#include "base/text.h"
#include "engine/rule.h"
#include "kube/command/command.h"
#include "kube/command/parallel.h"

/* Returns the number of devices of one group, leader and workers: the devices
 * of all pods, divided by the number of groups. 0 if unknown. */
static int64_t group_devices(const struct pod *pod)
{
	struct amount size = amount_int(node_get(pod->group, "size"), 1);
	struct amount pods = {0}, devices = {0};

	FOR_EACH_POD(pod->object, other) {
		if (other->group != pod->group)
			continue;
		pods = amount_add(pods, other->steady);
		devices = amount_add(devices,
				     amount_mul(other->steady, other->gpus));
	}
	devices = amount_mul(devices, size);
	return devices.unknown || pods.unknown || !pods.n ? 0
							  : devices.n / pods.n;
}

static int64_t wanted(const struct parallel *server)
{
	const struct degree *tensor = &server->degrees[DEGREE_TENSOR];
	const struct degree *pipeline = &server->degrees[DEGREE_PIPELINE];
	const struct degree *context = &server->degrees[DEGREE_CONTEXT];

	if (!tensor->given || tensor->unknown || pipeline->unknown ||
	    context->unknown || server->degrees[DEGREE_DATA].given ||
	    server->degrees[DEGREE_LOCAL].given)
		return 0;
	return tensor->n * (pipeline->given ? pipeline->n : 1) *
	       (context->given ? context->n : 1);
}

/* True if the container runs one server, which uses exactly the devices of the
 * container, without Ray or other nodes. */
static bool serves_alone(const struct container *c)
{
	struct parallel_list list = container_parallel(c);
	struct argv argv = container_argv(c);

	return list.n == 1 && list.items[0].type == PARALLEL_SERVER &&
	       !list.items[0].degrees[DEGREE_NODES].given &&
	       wanted(&list.items[0]) == container_devices(c) &&
	       !argv_have(&argv, "ray") &&
	       !argv_have(&argv, "--ray-cluster-size");
}

/* True if each pod of the group is a separate server that waits for no
 * other. */
static bool all_serve_alone(const struct pod *pod)
{
	FOR_EACH_POD(pod->object, other)
		FOR_EACH_CONTAINER(other, c)
			if (other->group == pod->group &&
			    container_devices(c) && !serves_alone(c))
				return false;
	return true;
}

static void check_server(struct rule_run *run, const struct container *c,
			 const struct parallel *server)
{
	int64_t want = wanted(server);
	int64_t has = group_devices(c->pod);
	struct finding *f;

	if (server->type != PARALLEL_SERVER || !want || !has || want == has ||
	    (want < has && (server->unknown || all_serve_alone(c->pod))))
		return;
	f = report_container(
		run, c, server->degrees[DEGREE_TENSOR].node,
		"%s spreads over %s, but a group of %s has %s", server->program,
		rule_count(run, want, pod_device(c->pod)),
		rule_count(run,
			   amount_int(node_get(c->pod->group, "size"), 1).n,
			   "pod"),
		rule_number(run, has));
	if (want > has)
		finding_severity(f, SEVERITY_ERROR);
}

static void check(struct rule_run *run, const struct pod *pod)
{
	/* A group of one pod has no workers. */
	if (!pod->group || !text_eq(pod->group->key, "leaderWorkerTemplate") ||
	    amount_int(node_get(pod->group, "size"), 1).n < 2)
		return;
	FOR_EACH_CONTAINER(pod, c) {
		struct parallel_list list;

		if (!container_devices(c))
			continue;
		list = container_parallel(c);
		if (list.n == 1)
			check_server(run, c, &list.items[0]);
	}
}

const struct rule rule_lws_size_mismatch = {
	.name = "lws-size-mismatch",
	.category = "gang",
	.severity = SEVERITY_WARNING,
	.flags = RULE_RAISES,
	.summary =
		"parallel sizes whose product is not the number of GPUs in the group",
	.why = "If the product is larger, the server cannot start; if it is smaller, some GPUs are idle.",
	.remedy =
		"Make the product of the tensor, pipeline and context parallel sizes equal to the number of GPUs in the group.",
	.evidence =
		"https://docs.vllm.ai/en/latest/serving/parallelism_scaling/; https://lws.sigs.k8s.io/docs/examples/vllm/",
	.check_pod = check,
};
