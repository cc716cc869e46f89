/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes the devices of a pod, from resources of containers, DRA claims,
 * annotations of schedulers that share devices, and fields that operators turn
 * into resources (operators/). The number of a claim's devices is in another
 * object; it is at least one if its name suggests a GPU. Shares of a device
 * (KAI fractions, HAMi memory) count as 0.
 *
 * Source of the annotations gpu-fraction and gpu-memory: KAI-Scheduler's pod
 * admission.
 */
#include "rules/kube/operator.h"

#include "kube/claim.h"

/* -- claims and annotations ---------------------------------------------- */

static void claims(struct pod *pod, const struct workload_operator *by)
{
	const struct node *list = pod_field(pod, "resourceClaims");

	if (node_is_unset(list) && by->claims)
		list = node_get(pod->spec, by->claims);
	if (node_is_unknown(list))
		pod->gpu_unknown = true;
	if (!node_is_seq(list))
		return;
	FOR_EACH_CHILD(list, claim) {
		enum tri use;
		struct amount n;

		if (by->claim && by->claim(pod, claim))
			continue;
		use = claim_use(pod, claim, &n);
		pod_add_claim(pod, use, n);
	}
}

static void annotations(struct pod *pod)
{
	static const char *const keys[] = {"gpu-fraction", "gpu-memory"};

	for (size_t i = 0; i < 2; i++)
		if (pod_annotation(pod, keys[i]))
			pod->gpu_by |= GPU_BY_ANNOTATION;
}

/* -- the sum ------------------------------------------------------------- */

/*
 * Like pod_request(), for all devices instead of one resource: the larger one
 * of the sum of the containers that run together, and each init container with
 * the sidecars before it. If init containers request another resource than the
 * main ones, both would count; this is ignored, because such a pod is probably
 * a mistake.
 */
static struct amount effective(const struct pod *pod)
{
	struct amount sum = {0}, started = {0}, floor = {0};

	FOR_EACH_CONTAINER(pod, c) {
		if (c->role == CONTAINER_INIT) {
			floor = amount_max(floor, amount_add(c->gpus, started));
			continue;
		}
		if (c->role == CONTAINER_SIDECAR)
			started = amount_add(started, c->gpus);
		sum = amount_add(sum, c->gpus);
	}
	return amount_max(sum, floor);
}

void pod_gpus(struct pod_builder *builder, struct pod *pod)
{
	const struct workload_operator *by = builder_operator(builder);

	if (by->gpus && builder->row->asks_gpus)
		by->gpus(builder, pod);
	claims(pod, by);
	annotations(pod);
	pod->gpus = amount_add(pod->gpus, effective(pod));
	if (pod->gpu_unknown)
		pod->gpus.unknown = true;
}
