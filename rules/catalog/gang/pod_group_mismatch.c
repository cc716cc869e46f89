/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports PodGroups whose minimum is above the number of pods that name them,
 * or below the number of ranks that wait for each other. Counts are compared
 * only if the group and all of its pods are in one file: others may add pods.
 * Also reports pods that name a PodGroup of no file, if its name is similar to
 * the name of a PodGroup in a file, and Jobs and JobSets whose annotation for
 * KAI's PodGroup waits for more pods than they have. Sources: scheduler-plugins
 * v0.32 pkg/coscheduling (PreFilter: fewer pods than minMember are
 * unschedulable); volcano pkg/scheduler/plugins/gang; Kubernetes 1.36
 * pkg/scheduler/framework/plugins/gangscheduling; KAI-Scheduler v0.17
 * docs/batch/README.md and pkg/podgrouper (minmember.FromAnnotations).
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"

/* True if both are of the same type, in the same cluster and the same namespace
 * of one set of files, or without a namespace in one file. */
static bool is_beside(const struct object_index *set, const struct pod_group *a,
		      const struct pod_group *b)
{
	const struct workload x = {.place = a->place}, y = {.place = b->place};

	return a->type == b->type && a->cluster == b->cluster &&
	       text_eq(a->id.namespace, b->id.namespace) &&
	       (*a->id.namespace || a->place.file == b->place.file) &&
	       index_set_of(set, &x) == index_set_of(set, &y);
}

/* Compares a minimum with the pods that name the group. */
static void check_counts(struct rule_run *run, const struct pod_group *group)
{
	const struct object_index *set = rule_index(run);
	const struct pod_group *first = NULL;
	struct amount pods = {0};
	int64_t ranks = 0;
	struct finding *f;

	for (size_t i = 0; i < set->ngroups; i++) {
		const struct pod_group *one = &set->groups[i];

		if (one == group || !is_beside(set, one, group) ||
		    !text_eq(one->name, group->name))
			continue;
		if (!one->member || one->place.file != group->place.file)
			return;
		pods = amount_add(pods, one->n);
		if (one->ranks > ranks)
			ranks = one->ranks;
		if (!first)
			first = one;
	}
	if (!first || pods.unknown || group->n.unknown)
		return;
	if (group->n.n > pods.n)
		f = report_place(
			run, &group->id, &group->place,
			"PodGroup `%s` waits for %s, but %s it: unless others do, no pod starts",
			group->name, rule_count(run, group->n.n, "pod"),
			pods.n == 1 ? "1 pod names"
				    : arena_printf(rule_arena(run),
						   "%lld pods name",
						   (long long)pods.n));
	else if (ranks > group->n.n && ranks <= pods.n)
		f = report_place(
			run, &group->id, &group->place,
			"PodGroup `%s` may start with %s of %s, which then wait for the others",
			group->name, rule_number(run, group->n.n),
			rule_count(run, ranks, "pod"));
	else
		return;
	finding_label_place(run, f, &first->place, "named here");
}

static void check_member(struct rule_run *run, const struct pod_group *member)
{
	const struct object_index *set = rule_index(run);
	const char *names[TEXT_NEAREST_MAX], *near;
	struct finding *f;
	size_t n = 0;

	for (size_t i = 0; i < set->ngroups; i++) {
		const struct pod_group *one = &set->groups[i];

		if (one->member || !is_beside(set, one, member))
			continue;
		if (n == TEXT_NEAREST_MAX || text_eq(one->name, member->name))
			return;
		names[n++] = one->name;
	}
	near = n ? text_nearest(member->name, names, n) : NULL;
	if (!near || text_is_series(near, member->name))
		return;
	f = report_place(
		run, &member->id, &member->place,
		"no file defines the PodGroup `%s` of %s: if the cluster does not have it either, the pods stay Pending",
		member->name,
		rule_title(run, member->id.kind, member->id.name));
	finding_help(run, f, "did you mean `%s`?", near);
}

/* Largest number of PodGroups and references to them. Each is compared with all
 * others, so that more would cost too much. */
enum { MOST = 2000 };

static void check(struct rule_run *run)
{
	const struct object_index *set = rule_index(run);

	if (rule_set_is_partial(run))
		return;
	if (set->ngroups > MOST) {
		rule_not_run(run, "more than 2,000 PodGroups and pods in them");
		return;
	}
	for (size_t i = 0; i < set->ngroups; i++) {
		if (set->groups[i].member)
			check_member(run, &set->groups[i]);
		else
			check_counts(run, &set->groups[i]);
	}
}

#define KAI_MINIMUM "kai.scheduler/batch-min-member"

/* True if KAI's scheduler places the pods of a Job or JobSet. */
static bool is_for_kai(const struct object *object)
{
	if (!object_is(object, "batch", "Job") &&
	    !object_is(object, "jobset.x-k8s.io", "JobSet"))
		return false;
	FOR_EACH_POD(object, pod)
		if (node_eq(pod_field(pod, "schedulerName"), "kai-scheduler"))
			return true;
	return false;
}

static void check_object(struct rule_run *run, const struct object *object)
{
	const struct node *at = object_annotation(object, KAI_MINIMUM);
	const char *text = node_str(at);
	struct amount pods = {0};
	int64_t least;

	if (!text || node_is_unknown(at) || !is_for_kai(object))
		return;
	if (strspn(text, "0123456789") != strlen(text) || strlen(text) > 9 ||
	    (least = strtol(text, NULL, 10)) < 1) {
		report_object(
			run, object, at,
			"`" KAI_MINIMUM
			"` is not a positive number: KAI creates no PodGroup, and no pod starts");
		return;
	}
	FOR_EACH_POD(object, pod)
		pods = amount_add(pods, pod->steady);
	if (pods.unknown || least <= pods.n)
		return;
	report_object(run, object, at,
		      "KAI waits for %s, but %s has %s: no pod starts",
		      rule_count(run, least, "pod"),
		      rule_title(run, object->kind, object->name),
		      rule_number(run, pods.n));
}

const struct rule rule_pod_group_mismatch = {
	.name = "pod-group-mismatch",
	.category = "gang",
	.severity = SEVERITY_WARNING,
	.needs = NEEDS_SET,
	.flags = RULE_ABSENCE,
	.summary =
		"a PodGroup, or the minimum of a gang, that does not match the pods",
	.why = "With a minimum above the number of pods, or a PodGroup that does not exist, no pod starts. With a minimum below the number of ranks, the first pods hold their GPUs while they wait for the others.",
	.remedy =
		"Set the minimum to the number of pods that start together, and name the PodGroup on each of them.",
	.evidence =
		"https://github.com/kubernetes-sigs/scheduler-plugins/blob/v0.32.7/pkg/coscheduling/README.md; https://volcano.sh/en/docs/podgroup/; https://github.com/kubernetes/enhancements/tree/master/keps/sig-scheduling/4671-gang-scheduling",
	.check_object = check_object,
	.check_set = check,
};
