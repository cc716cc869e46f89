/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports pods with accelerators of two vendors, and containers with whole GPUs
 * and MIG slices. No node offers accelerators of two vendors, unless one is
 * Intel, whose graphics and NPUs are parts of the processor. For whole GPUs and
 * slices the kubelet merges the environment of both allocations into one
 * NVIDIA_VISIBLE_DEVICES, and one of the two is lost.
 *
 * Source: NVIDIA/k8s-device-plugin#728.
 */
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"

struct vendors_seen {
	const struct accelerator *accelerator;
	const struct node *at;
};

static bool clash(const struct accelerator *a, const struct accelerator *b)
{
	if (a->class == ACCEL_SHARE || b->class == ACCEL_SHARE)
		return false;
	return (a->class == ACCEL_WHOLE && b->class == ACCEL_MIG) ||
	       (a->class == ACCEL_MIG && b->class == ACCEL_WHOLE);
}

/* Compares an entry with the first resource of the pod and of the container so
 * far. Returns true if it reports a conflict. */
static bool check_entry(struct rule_run *run, const struct container *c,
			const struct resource_entry *entry,
			struct vendors_seen seen[2])
{
	const struct accelerator *a = entry->accelerator;
	const struct node *value = entry->node, *other;
	struct finding *f;

	if (!a || entry->state != QUANTITY_OK || entry->quantity.nano <= 0)
		return false;
	for (int i = 0; i < 2; i++) {
		const struct accelerator *b = seen[i].accelerator;

		if (i == 0 && text_eq(a->vendor, "intel"))
			continue;
		if (!b) {
			seen[i] = (struct vendors_seen){a, value};
			continue;
		}
		if (i == 0 ? text_eq(a->vendor, b->vendor) : !clash(a, b))
			continue;
		other = seen[i].at;
		/* The order of keys has no meaning, so the last one by name is
		 * reported. */
		if (value->parent == other->parent &&
		    strcmp(value->key, other->key) < 0) {
			other = value;
			value = seen[i].at;
		}
		f = report_container(
			run, c, value,
			i == 0 ? "the pod requests `%s` and `%s`: no node has both"
			       : "the container requests `%s` and `%s`: it can use only one of them",
			other->key, value->key);
		finding_label(run, f, other, "the other accelerator");
		return true;
	}
	return false;
}

static void check(struct rule_run *run, const struct pod *pod)
{
	struct vendors_seen seen[2] = {{0}};

	FOR_EACH_CONTAINER(pod, c) {
		seen[1] = (struct vendors_seen){0};
		FOR_EACH_ASKED(c, entry)
			if (check_entry(run, c, entry, seen))
				return;
	}
}

const struct rule rule_gpu_mixed_vendors = {
	.name = "gpu-mixed-vendors",
	.category = "resources",
	.severity = SEVERITY_ERROR,
	.summary =
		"accelerators of two vendors in a pod, or a GPU and a MIG slice in a container",
	.why = "No node has accelerators of two vendors, except for integrated Intel GPUs. If a container gets a whole GPU and a MIG slice, it can use only one of them.",
	.remedy = "Request one type of accelerator per pod.",
	.evidence = "https://github.com/NVIDIA/k8s-device-plugin/issues/728",
	.check_pod = check,
};
