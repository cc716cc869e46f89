/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports pods that request more CPUs or memory than each of the selected
 * instance types has in total; reservations of the kubelet and the system are
 * not subtracted.
 * The numbers are in rules/kube/data/instance_types.tsv.
 */
#include <inttypes.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/accelerator.h"
#include "kube/scheduling/affinity.h"
#include "kube/scheduling/node_devices.h"

static struct quantity amount_of_type(const struct instance_type *type,
				      bool memory)
{
	return memory ? instance_type_memory(type) : quantity_from(type->cpus);
}

/* Returns the value of the requirement whose type has most of the resource;
 * NULL if the number of one of them is unknown. */
static const struct node *largest(const struct node_need *need, bool memory,
				  const struct instance_type **type)
{
	const struct node *value = node_need_value(need, 0), *found = NULL;

	for (; value; value = node_need_next(need, value)) {
		const struct instance_type *one =
			node_str(value) ? instance_type_find(value->str) : NULL;

		if (!one || !one->cpus)
			return NULL;
		if (found && quantity_cmp(amount_of_type(one, memory),
					  amount_of_type(*type, memory)) <= 0)
			continue;
		found = value;
		*type = one;
	}
	return found;
}

static bool compare(struct rule_run *run, const struct pod *pod,
		    const struct node_need *need, bool memory)
{
	const char *resource = memory ? "memory" : "cpu";
	const struct instance_type *type = NULL;
	const struct node *at = largest(need, memory, &type);
	bool unknown = false;
	struct quantity needed = pod_request(pod, resource, false, &unknown);
	char text[QUANTITY_TEXT], has_text[QUANTITY_TEXT];
	struct quantity has;

	if (!at)
		return false;
	has = amount_of_type(type, memory);
	if (quantity_cmp(needed, has) <= 0)
		return false;
	finding_cause(run,
		      report_pod(run, pod, at,
				 "the pod requests %s %s, but %s `%s`%s has %s",
				 quantity_text(needed, text), resource,
				 node_need_value(need, 1)
					 ? "the largest of the selected types,"
					 : "instance type",
				 type->name,
				 node_need_value(need, 1) ? "," : "",
				 quantity_text(has, has_text)),
		      resource);
	return true;
}

/* Skips a requirement in one of several ORed terms, which allows other
 * nodes. */
static void check(struct rule_run *run, const struct pod *pod)
{
	struct node_needs needs = pod_node_needs(pod);
	bool cpu = false, memory = false;

	for (size_t i = 0; i < needs.n; i++) {
		const struct node_need *need = &needs.items[i];
		const struct node_label *label = node_label_find(need->key);

		if (!label || label->meaning != LABEL_INSTANCE ||
		    (need->term && needs.terms > 1))
			continue;
		cpu = cpu || compare(run, pod, need, false);
		memory = memory || compare(run, pod, need, true);
	}
}

const struct rule rule_instance_type_too_small = {
	.name = "instance-type-too-small",
	.category = "resources",
	.severity = SEVERITY_ERROR,
	.scope = GPU_PODS | PODSPEC | NEW_TEMPLATES,
	.since = "1.0",
	.summary =
		"a pod requests more CPUs or memory than its instance type has",
	.why = "The pod does not fit on a node of this type: it stays Pending.",
	.remedy = "Request less, or select a larger instance type.",
	.evidence =
		"https://karpenter.sh/docs/reference/instance-types/; https://github.com/selkies-project/docker-selkies-egl-desktop/issues/35",
	.check_pod = check,
};
