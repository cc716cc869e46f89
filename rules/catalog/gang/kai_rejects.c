/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports pods, queues, PodGroups and topologies that KAI-Scheduler rejects.
 * Its webhook checks only pods that name its scheduler (pod_validator.go).
 * Sources, v0.4.0 to v0.17.0: pkg/binder/plugins/gpusharing/gpu-request,
 * ValidateGpuRequests(), which also reads empty annotations;
 * pkg/apis/scheduling/v2alpha2/podgroup_webhook.go; pkg/admission/webhook. Not
 * checked: NVIDIA_VISIBLE_DEVICES and quotas of parents, which the webhook
 * compares only if it is configured to.
 */
#include "base/text.h"
#include "engine/rule.h"

#define ANNOTATIONS "self.?metadata.annotations.orValue({})"
#define SET(name)   ANNOTATIONS "[?'" name "'].hasValue()"
#define MATCHES(name, pattern)                                                 \
	"!(" SET(name) ") || " ANNOTATIONS "['" name                           \
		       "'].matches('[$<{]|" pattern "')"
#define WHOLE                                                                      \
	"(self.spec.containers + self.spec.?initContainers.orValue([])).exists(c," \
	" c.?resources.limits[?'nvidia.com/gpu'].hasValue())"

/* A positive integer of 64 bits. */
#define COUNT "^0*([1-9][0-9]{0,18}|1[0-8][0-9]{18})$"

#define GROUP	  "scheduling.run.ai/PodGroup:spec"
#define TOPOLOGY  "kai.scheduler/Topology:spec"
#define CHILDREN  "owner.subGroups.filter(c, c.?parent.orValue('') == self.name)"
#define IS_PARENT CHILDREN ".size() > 0"

static const struct rejection items[] = {
	REJECTION("fraction-and-gpu", NULL, "metadata.annotations.gpu-fraction",
		  "!(" SET("gpu-fraction") " && " WHOLE ")",
		  "'the pod has the annotation `gpu-fraction` and a limit of"
		  " nvidia.com/gpu'"),
	REJECTION(
		"memory-and-gpu", NULL, "metadata.annotations.gpu-memory",
		"!(" SET("gpu-memory") " && " WHOLE ")",
		"'the pod has the annotation `gpu-memory` and a limit of nvidia.com/gpu'"),
	REJECTION(
		"fraction-and-memory", NULL,
		"metadata.annotations.gpu-fraction",
		"!(" SET("gpu-fraction") " && " SET("gpu-memory") ")",
		"'the pod has both annotations `gpu-fraction` and `gpu-memory`'"),
	REJECTION(
		"devices-alone", NULL,
		"metadata.annotations.gpu-fraction-num-devices",
		"!(" SET("gpu-fraction-num-devices") ") || " SET(
			"gpu-fraction") " || " SET("gpu-memory"),
		"'`gpu-fraction-num-devices` is set without `gpu-fraction` or `gpu-memory`'"),
	REJECTION(
		"fraction-range", NULL, "metadata.annotations.gpu-fraction",
		"!(" SET(
			"gpu-fraction") ") || (double(" ANNOTATIONS
					"['gpu-fraction']) > 0.0 && double(" ANNOTATIONS
					"['gpu-fraction']) < 1.0)",
		"'`gpu-fraction` is ' + " ANNOTATIONS
		"['gpu-fraction'] + ', not between 0 and 1'"),
	REJECTION(
		"fraction-number", NULL, "metadata.annotations.gpu-fraction",
		MATCHES("gpu-fraction",
			"^[+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$|"
			"^[nN][aA][nN]$|^[+-]?0[xX]"),
		"'`gpu-fraction` is not a number'"),
	REJECTION("fraction-decimal", NULL, "metadata.annotations.gpu-fraction",
		  "!" ANNOTATIONS
		  "[?'gpu-fraction'].orValue('').matches('^[nN][aA][nN]$|"
		  "^[+]?0[xX]')",
		  "'`gpu-fraction` is not a decimal number'", .since = "0.17"),
	REJECTION("memory-number", NULL, "metadata.annotations.gpu-memory",
		  MATCHES("gpu-memory", COUNT),
		  "'`gpu-memory` is not a positive whole number of MiB'"),
	REJECTION(
		"devices-number", NULL,
		"metadata.annotations.gpu-fraction-num-devices",
		MATCHES("gpu-fraction-num-devices", COUNT),
		"'`gpu-fraction-num-devices` is not a positive whole number'"),
	REJECTION("mps-alone", NULL, "metadata.annotations.mps",
		  ANNOTATIONS "[?'mps'].orValue('') != 'true' || " SET(
			  "gpu-fraction") " || " SET("gpu-memory"),
		  "'`mps` is true without a share of a GPU'"),
	REJECTION("queue-resources", "scheduling.run.ai/Queue:spec",
		  "resources", "has(self.resources)",
		  "'the queue has no `resources`'", .absent = true),
	REJECTION("subgroup-twice", GROUP, "subGroups",
		  "self.subGroups.all(i, a, !self.subGroups.exists(k, b,"
		  " k < i && a.name == b.name))",
		  "'two subgroups have the same name'", .since = "0.10"),
	REJECTION("subgroup-parent", GROUP, "subGroups",
		  "self.subGroups.all(a, a.?parent.orValue(null) == null ||"
		  " self.subGroups.exists(b, b.name == a.parent))",
		  "'a subgroup names a parent that does not exist'",
		  .since = "0.10"),
	REJECTION("subgroup-cycle", GROUP, NULL, NULL,
		  "'a subgroup is its own ancestor'", .since = "0.10"),
	REJECTION("minimums", GROUP, "minSubGroup",
		  "!has(self.minMember) || !has(self.minSubGroup)",
		  "'`minMember` and `minSubGroup` are both set'",
		  .since = "0.15"),
	REJECTION("subgroup-minimums", GROUP, "minSubGroup",
		  "!has(self.minMember) || !has(self.minSubGroup)",
		  "'`minMember` and `minSubGroup` of a subgroup are both set'",
		  .each = "subGroups", .since = "0.15"),
	REJECTION("leaf-groups", GROUP, "minSubGroup",
		  "!has(self.minSubGroup) || " IS_PARENT,
		  "'`minSubGroup` is set in a subgroup without subgroups'",
		  .each = "subGroups", .since = "0.15"),
	REJECTION("leaf-members", GROUP, "minMember",
		  "has(self.minMember) || has(self.minSubGroup) || " IS_PARENT,
		  "'a subgroup without subgroups has no `minMember`'",
		  .each = "subGroups", .absent = true, .since = "0.15"),
	REJECTION("parent-members", GROUP, "minMember",
		  "!has(self.minMember) || !(" IS_PARENT ")",
		  "'`minMember` is set in a subgroup that has subgroups'",
		  .each = "subGroups", .since = "0.15"),
	REJECTION("alias-twice", TOPOLOGY, "levels",
		  "self.levels.all(i, a, !has(a.alias) || !self.levels.exists("
		  "k, b, k < i && b.?alias.orValue('') == a.alias))",
		  "'two levels have the same `alias`'", .since = "0.17"),
	REJECTION("alias-of-label", TOPOLOGY, "levels",
		  "self.levels.all(a, !has(a.alias) || !self.levels.exists(b,"
		  " b.nodeLabel == a.alias))",
		  "'an `alias` is the `nodeLabel` of a level'",
		  .since = "0.17"),
	{0},
};

static const struct rejections rejections = {
	.by = "KAI",
	NULL,
	NULL,
	items,
	"0.4 to 0.17",
	.component = OPERATOR_KAI,
};

static void check(struct rule_run *run, const struct pod *pod)
{
	if (node_eq(node_get(pod->spec, "schedulerName"), "kai-scheduler"))
		rule_check_pod_rejections(run, pod);
}

/* Largest number of subgroups that are searched for cycles. */
enum { MOST = 100 };

static const struct node *subgroup(const struct node *list,
				   const struct node *name)
{
	FOR_EACH_CHILD(list, item)
		if (node_str(name) &&
		    text_eq(node_str(node_get(item, "name")), node_str(name)))
			return item;
	return NULL;
}

/* True if following the parents of the subgroup leads back to it. */
static bool is_in_cycle(const struct node *list, const struct node *group)
{
	const struct node *at = group;

	for (uint32_t steps = 0; at && steps < list->len; steps++) {
		at = subgroup(list, node_get(at, "parent"));
		if (at == group)
			return true;
	}
	return false;
}

static void check_object(struct rule_run *run, const struct object *object)
{
	const struct node *list = node_path(object->root, "spec.subGroups");

	if (!text_eq(object->group, "scheduling.run.ai") &&
	    !text_eq(object->group, "kai.scheduler"))
		return;
	rule_check_rejections(run, object);
	if (!node_is_seq(list))
		return;
	if (list->len > MOST) {
		rule_not_run(run, "a PodGroup has more than 100 subgroups");
		return;
	}
	FOR_EACH_CHILD(list, group) {
		if (!is_in_cycle(list, group))
			continue;
		rule_report_rejection(run, NULL, node_get(group, "parent"),
				      "subgroup-cycle",
				      "a subgroup is its own ancestor");
		return;
	}
}

const struct rule rule_kai_rejects = {
	.name = "kai-rejects",
	.category = "gang",
	.severity = SEVERITY_ERROR,
	.flags = RULE_ABSENCE,
	.summary =
		"a GPU share, a queue, a PodGroup or a topology that KAI rejects",
	.why = "The webhook of the KAI scheduler rejects pods that request both a share and a whole GPU, a share in two ways, or an invalid share. It also rejects queues without resources, PodGroups whose subgroups do not form trees or have contradictory minimums, and topologies whose aliases are ambiguous.",
	.evidence =
		"https://github.com/kai-scheduler/KAI-Scheduler/blob/0192ad9a539ffaa6d65837104ab57fd40894a0b3/pkg/binder/plugins/gpusharing/gpu-request/gpu_request_validator.go",
	.rejections = &rejections,
	.check_pod = check,
	.check_object = check_object,
};
