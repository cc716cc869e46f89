/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports containers that request several MIG slices. A CUDA process can use
 * only one MIG device.
 */
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/command/env.h"
#include "kube/scheduling/node_match.h"

static bool is_slice(struct rule_run *run, const struct container *c,
		     const struct resource_entry *entry)
{
	return entry->accelerator && entry->state == QUANTITY_OK &&
	       entry->quantity.nano > 0 &&
	       container_unit(rule_cluster(run), c, entry) == ACCEL_MIG;
}

/*
 * True if the container may start a process for each slice, by its own
 * launcher, with Dask-CUDA, or with Ray.
 */
static bool spreads(const struct container *c)
{
	return container_says(c, "CUDA_VISIBLE_DEVICES") ||
	       container_says(c, "MIG-") || container_says(c, "dask") ||
	       text_eq(c->pod->object->group, "ray.io");
}

static void check(struct rule_run *run, const struct pod *pod)
{
	FOR_EACH_CONTAINER(pod, c) {
		const struct node *last = NULL;
		int64_t n = 0;

		if (c->gpus.n < 2 && !c->gpus.unknown)
			continue;
		FOR_EACH_ASKED(c, entry) {
			if (!is_slice(run, c, entry))
				continue;
			n += quantity_value(entry->quantity);
			/* The order of keys in a map has no meaning, so the
			 * last one by name is reported. */
			if (!last || strcmp(entry->node->key, last->key) > 0)
				last = entry->node;
		}
		if (n > 1 && !spreads(c))
			report_container(
				run, c, last,
				"container `%s` requests %s, but each CUDA process uses only one of them",
				container_title(c),
				rule_count(run, n, "MIG slice"));
	}
}

const struct rule rule_mig_multiple_in_container = {
	.name = "mig-multiple-in-container",
	.category = "scheduling",
	.severity = SEVERITY_WARNING,
	.summary = "a container requests several MIG slices",
	.why = "A CUDA process uses one MIG instance. The others are idle unless the container starts a process for each of them with its own CUDA_VISIBLE_DEVICES.",
	.remedy =
		"Request one larger slice, or run each process in its own container.",
	.evidence =
		"https://docs.nvidia.com/datacenter/tesla/mig-user-guide/; https://github.com/NVIDIA/k8s-device-plugin/issues/446",
	.check_pod = check,
};
