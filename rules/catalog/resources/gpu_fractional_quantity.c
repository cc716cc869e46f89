/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports requests for a fraction of an accelerator, or a negative number.
 * Extended resources are integers ("must be an integer"), so a request for 0.5
 * does not share a device. "1000m" and 1.0 are integers.
 *
 * Source: pkg/apis/core/validation ValidateResourceQuantityValue, helper
 * IsIntegerResourceName.
 */
#include "base/text.h"
#include "engine/rule.h"

static void check_entry(struct rule_run *run, const struct container *c,
			const struct resource_entry *entry)
{
	const struct node *value = entry->node;
	struct quantity q = entry->quantity;
	struct finding *f;

	if (!entry->accelerator || entry->state != QUANTITY_OK ||
	    (quantity_is_integer(q) && q.nano >= 0))
		return;
	f = report_container(
		run, c, value, "container `%s` requests %s `%s`: %s",
		container_title(c), value->str, value->key,
		q.nano < 0 ? "the number is negative"
			   : "only whole devices can be requested");
	finding_cause(run, f, value->key);
	if (q.nano > 0)
		finding_help(
			run, f, "Request %lld%s.", (long long)quantity_value(q),
			text_eq(entry->accelerator->vendor, "nvidia")
				? ", or share a device with MIG, time-slicing (`nvidia.com/gpu.shared`), KAI (`gpu-fraction`) or HAMi (`nvidia.com/gpucores`)"
				: "");
}

static void check(struct rule_run *run, const struct pod *pod)
{
	FOR_EACH_CONTAINER(pod, c) {
		FOR_EACH_LIMIT(c, limit)
			check_entry(run, c, limit);
		/* If limit and request have the same number, it is reported
		 * once. */
		FOR_EACH_REQUEST(c, request)
			if (request->accelerator &&
			    !(request->other &&
			      node_same(request->node, request->other->node)))
				check_entry(run, c, request);
	}
}

const struct rule rule_gpu_fractional_quantity = {
	.name = "gpu-fractional-quantity",
	.category = "resources",
	.severity = SEVERITY_ERROR,
	.flags = RULE_INFRASTRUCTURE,
	.summary =
		"a request for a fraction of an accelerator, or for a negative number",
	.why = "Extended resources are integers, so the API server rejects the Pod. Custom resources are accepted, but their pods are never created.",
	.remedy =
		"Request whole devices, or share an NVIDIA GPU with MIG, time-slicing, KAI or HAMi.",
	.evidence =
		"https://github.com/kubernetes/kubernetes/tree/master/pkg/apis/core/validation ValidateResourceQuantityValue; observed on kube-apiserver 1.37.2",
	.check_pod = check,
};
