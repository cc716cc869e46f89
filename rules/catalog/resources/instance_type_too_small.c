/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports pods that request more CPUs or memory than the selected instance type
 * has in total; reservations of the kubelet and the system are not subtracted.
 * The numbers are in rules/kube/data/instance_types.tsv.
 */
#include <inttypes.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/scheduling/node_devices.h"

static void compare(struct rule_run *run, const struct pod *pod,
		    const struct node_devices *node, const char *resource,
		    struct quantity has)
{
	bool unknown = false;
	struct quantity need = pod_request(pod, resource, false, &unknown);
	char text[QUANTITY_TEXT], has_text[QUANTITY_TEXT];
	struct finding *f;

	if (quantity_cmp(need, has) <= 0)
		return;
	f = report_pod(run, pod, node->at,
		       "the pod requests %s %s, but a `%s` has %s",
		       quantity_text(need, text), resource, node->type->name,
		       quantity_text(has, has_text));
	finding_cause(run, f, resource);
}

static void check(struct rule_run *run, const struct pod *pod)
{
	struct node_devices node = pod_node_devices(pod);

	if (!node.type || !node.type->cpus)
		return;
	compare(run, pod, &node, "cpu", quantity_from(node.type->cpus));
	compare(run, pod, &node, "memory", instance_type_memory(node.type));
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
