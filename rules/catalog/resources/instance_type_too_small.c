/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports pods that request more CPUs, memory or EFA interfaces than each of
 * the selected instance types has in total; reservations of the kubelet and the
 * system are not subtracted. The numbers are in
 * rules/kube/data/instance_types.tsv.
 */
#include <inttypes.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/accelerator.h"
#include "kube/scheduling/affinity.h"
#include "kube/scheduling/node_devices.h"

enum measure { CPUS, MEMORY, INTERFACES, MEASURES };

static const char *const resources[MEASURES] = {"cpu", "memory",
						"vpc.amazonaws.com/efa"};

static struct quantity amount_of_type(const struct instance_type *type,
				      enum measure measure)
{
	if (measure == MEMORY)
		return instance_type_memory(type);
	return quantity_from(measure == CPUS ? type->cpus : type->efa);
}

/* Returns the value of the requirement whose type has most of the resource;
 * NULL if the number of one of them is unknown. */
static const struct node *largest(const struct node_need *need,
				  enum measure measure,
				  const struct instance_type **type)
{
	const struct node *value = node_need_value(need, 0), *found = NULL;

	for (; value; value = node_need_next(need, value)) {
		const struct instance_type *one =
			node_str(value) ? instance_type_find(value->str) : NULL;

		if (!one || !one->cpus || (measure == INTERFACES && !one->efa))
			return NULL;
		if (found && quantity_cmp(amount_of_type(one, measure),
					  amount_of_type(*type, measure)) <= 0)
			continue;
		found = value;
		*type = one;
	}
	return found;
}

static bool compare(struct rule_run *run, const struct pod *pod,
		    const struct node_need *need, enum measure measure)
{
	const char *resource = resources[measure];
	const struct instance_type *type = NULL;
	const struct node *at = largest(need, measure, &type);
	bool unknown = false;
	struct quantity needed = pod_request(pod, resource, false, &unknown);
	char text[QUANTITY_TEXT], has_text[QUANTITY_TEXT];
	struct quantity has;

	if (!at)
		return false;
	has = amount_of_type(type, measure);
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
	bool told[MEASURES] = {false};

	for (size_t i = 0; i < needs.n; i++) {
		const struct node_need *need = &needs.items[i];
		const struct node_label *label = node_label_find(need->key);

		if (!label || label->meaning != LABEL_INSTANCE ||
		    (need->term && needs.terms > 1))
			continue;
		for (enum measure m = 0; m < MEASURES; m++)
			told[m] = told[m] || compare(run, pod, need, m);
	}
}

const struct rule rule_instance_type_too_small = {
	.name = "instance-type-too-small",
	.category = "resources",
	.severity = SEVERITY_ERROR,
	.scope = GPU_PODS | PODSPEC,
	.summary =
		"a pod requests more CPUs, memory or EFA interfaces than its instance type has",
	.why = "The pod does not fit on a node of this type: it stays Pending.",
	.remedy = "Request less, or select a larger instance type.",
	.evidence =
		"https://karpenter.sh/docs/reference/instance-types/; https://github.com/selkies-project/docker-selkies-egl-desktop/issues/35",
	.check_pod = check,
};
