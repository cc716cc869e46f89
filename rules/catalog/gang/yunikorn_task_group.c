/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports task groups of YuniKorn that do not match the pods. YuniKorn reserves
 * minMember placeholders of the size minResource. A pod that requests more than
 * its placeholder does not take its place: the placeholders of the group are
 * released (yunikorn-core v1.6.1 pkg/scheduler/objects/application.go
 * tryPlaceholderAllocate). Too many placeholders are an info, because other
 * pods of the application may use them.
 */
#include <string.h>

#include "base/text.h"
#include "doc/load.h"
#include "engine/rule.h"

#define PREFIX "yunikorn.apache.org/"

/* Returns the groups that an annotation of any pod of the object defines, and
 * sets *at to the annotation. */
static const struct node *groups_of(struct rule_run *run,
				    const struct object *object,
				    const struct node **at)
{
	FOR_EACH_POD(object, pod) {
		*at = pod_annotation(pod, PREFIX "task-groups");
		if (node_str(*at))
			return yaml_in(rule_arena(run), *at);
	}
	return NULL;
}

/* Returns the group with this name, or one that is unknown; NULL if there is
 * none. */
static const struct node *group_named(const struct node *groups,
				      const char *name)
{
	FOR_EACH_CHILD(groups, group)
		if (node_is_unknown(group) ||
		    node_eq(node_get(group, "name"), name))
			return group;
	return NULL;
}

/* Returns the first device that the pods request and minResource lacks, or
 * NULL. */
static const char *missing_device(const struct pod *pod,
				  const struct node *least)
{
	FOR_EACH_CONTAINER(pod, c)
		FOR_EACH_ASKED(c, entry)
			if (entry->accelerator && entry->state == QUANTITY_OK &&
			    entry->quantity.nano > 0 &&
			    !node_get(least, entry->node->key))
				return entry->node->key;
	return NULL;
}

static void check_size(struct rule_run *run, const struct pod *pod,
		       const struct node *name, const struct node *group)
{
	const struct node *least = node_get(group, "minResource");
	const char *device = missing_device(pod, least);

	if (device && !node_is_unknown(least))
		report_pod(
			run, pod, name,
			"task group `%s` reserves no `%s`, which the pods request: YuniKorn releases the reservation",
			node_str(name), device);
	FOR_EACH_CHILD(least, entry) {
		char pods[QUANTITY_TEXT], has[QUANTITY_TEXT];
		struct quantity reserved, asks;
		bool unknown = false;

		asks = pod_request(pod, entry->key, false, &unknown);
		if (unknown || node_quantity(entry, &reserved) != QUANTITY_OK ||
		    quantity_cmp(asks, reserved) <= 0)
			continue;
		report_pod(
			run, pod, name,
			"task group `%s` reserves %s %s for each pod, but each pod requests %s: YuniKorn releases the reservation",
			node_str(name), quantity_text(reserved, has),
			entry->key, quantity_text(asks, pods));
	}
}

/* Returns the number of pods of the object that are in the group. */
static struct amount members(const struct object *object, const char *name)
{
	struct amount n = {0};

	FOR_EACH_POD(object, pod)
		if (node_eq(pod_annotation(pod, PREFIX "task-group-name"),
			    name))
			n = amount_add(n, pod->steady);
	return n;
}

static void check_number(struct rule_run *run, const struct object *object,
			 const struct node *at, const struct node *group)
{
	const char *name = node_str(node_get(group, "name"));
	struct amount least = amount_int(node_get(group, "minMember"), 0);
	struct amount n;

	if (!name || least.unknown)
		return;
	n = members(object, name);
	if (!n.n || n.unknown || least.n <= n.n)
		return;
	finding_severity(
		report_object(
			run, object, at,
			"task group `%s` reserves resources for %s, but %s has only %s: unless other pods of the application use the rest, it is held until placeholderTimeoutInSeconds have passed",
			name, rule_count(run, least.n, "pod"),
			rule_title(run, object->kind, object->name),
			rule_number(run, n.n)),
		SEVERITY_INFO);
}

static void check(struct rule_run *run, const struct object *object)
{
	const struct node *at = NULL, *groups = groups_of(run, object, &at);

	if (!node_is_seq(groups))
		return;
	FOR_EACH_CHILD(groups, group)
		check_number(run, object, at, group);
	FOR_EACH_POD(object, pod) {
		const struct node *name =
			pod_annotation(pod, PREFIX "task-group-name");
		const struct node *group;

		if (!node_str(name))
			continue;
		group = group_named(groups, node_str(name));
		if (group)
			check_size(run, pod, name, group);
		else
			report_pod(
				run, pod, name,
				"`task-groups` defines no task group `%s`: the pods are not part of the gang",
				node_str(name));
	}
}

const struct rule rule_yunikorn_task_group = {
	.name = "yunikorn-task-group",
	.category = "gang",
	.severity = SEVERITY_WARNING,
	.scope = GPU_PODS,
	.summary = "a task group of YuniKorn that does not match its pods",
	.why = "YuniKorn reserves nothing, or not the resources that the pods need: they start without a reservation, or GPUs are held that no pod uses.",
	.remedy =
		"Define the task group that the pods name, with minMember as their number and minResource as the requests of one pod.",
	.evidence =
		"https://yunikorn.apache.org/docs/user_guide/gang_scheduling; https://github.com/apache/yunikorn-core/blob/v1.6.1/pkg/scheduler/objects/application.go",
	.check_object = check,
};
