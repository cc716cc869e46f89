/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers of interfaces: rules/kube/data/instance_types.tsv.
 */
#include <inttypes.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/scheduling/affinity.h"

/* The type of instance that the pods select, where it is one. */
static const struct instance_type *selected(struct rule_run *run,
					    const struct pod *pod)
{
	struct node_needs needs = pod_node_needs(rule_arena(run), pod);

	for (size_t i = 0; i < needs.n && needs.terms <= 1; i++) {
		const struct node_need *need = &needs.items[i];
		const struct node *value = node_need_value(need, 0);

		if (text_ends(need->key, ".kubernetes.io/instance-type") &&
		    node_need_requires(need) && node_str(value) &&
		    !node_need_value(need, 1))
			return instance_type_find(node_str(value));
	}
	return NULL;
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct instance_type *type = NULL;

	FOR_EACH_CONTAINER(pod, c) {
		const struct node *at =
			node_get(container_limits(c), "vpc.amazonaws.com/efa");
		struct quantity q;

		if (!at || node_quantity(at, &q) != QUANTITY_OK ||
		    c->gpus.unknown)
			continue;
		type = selected(run, pod);
		if (!type || !type->efa || c->gpus.n != type->accelerators ||
		    quantity_value(q) >= type->efa)
			continue;
		report_container(run, c, at,
				 "container `%s` takes all %d accelerators of "
				 "`%s` and %" PRId64
				 " of its %d EFA interfaces",
				 container_title(c), type->accelerators,
				 type->name, quantity_value(q), type->efa);
	}
}

const struct rule rule_efa_count_mismatch = {
	.name = "efa-count-mismatch",
	.category = "network",
	.severity = SEVERITY_WARNING,
	.flags = RULE_PREVIEW,
	.wants = FACT_OTHER,
	.since = "1.0",
	.summary = "a whole node's GPUs with a part of its EFA interfaces",
	.why = "Collectives between nodes run at the speed of the interfaces asked for: one of 32 is a thirty-second.",
	.remedy =
		"Ask for as many vpc.amazonaws.com/efa as the instance type has.",
	.evidence =
		"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html; https://docs.aws.amazon.com/eks/latest/userguide/node-efa.html",
	.check_pod = check,
};
