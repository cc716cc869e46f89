/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports a priorityClassName whose PriorityClass does not exist: the owner is
 * accepted, and then each of its Pods is forbidden ("no PriorityClass with name
 * ... was found"). It is checked only if the input or the cluster has
 * PriorityClasses. Files rarely define all of them, and schedulers install more
 * (KAI: train, build, inference), so that without a cluster the finding is only
 * an info, even for a similar name. Source: plugin/pkg/admission/priority
 * admitPod; observed on kube-apiserver.
 */
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/lifecycle/lifecycle.h"

static const char *nearest_class(struct rule_run *run, const char *name)
{
	struct arena *arena = rule_arena(run);
	const struct object_index *index = rule_index(run);
	const struct cluster *cluster = rule_cluster(run);
	const struct cluster_object *others = NULL;
	const char **names;
	size_t n = 0;

	if (cluster)
		others = rule_cluster_list(run, CLUSTER_PRIORITY_CLASS, "", &n);
	names = ARENA_ARRAY(arena, const char *, n + index->nclasses + 1);
	for (size_t i = 0; i < n; i++)
		names[i] = others[i].name;
	for (size_t i = 0; i < index->nclasses; i++)
		names[n++] = index->classes[i].id.name;
	return text_nearest(name, names, n);
}

/* True if classes are known. Otherwise the rule is recorded as skipped. */
static bool knows_classes(struct rule_run *run)
{
	if (rule_cluster_lacks(run, CLUSTER_PRIORITY_CLASS))
		return false;
	if (rule_cluster(run) ||
	    (rule_index(run)->nclasses && !rule_set_is_partial(run)))
		return true;
	rule_not_run(run, rule_without_cluster(run));
	return false;
}

static void check(struct rule_run *run, const struct workload *w)
{
	const struct object_index *index = rule_index(run);

	for (size_t i = 0; i < w->npods; i++) {
		const char *near, *name = w->pods[i].priority_class;
		const struct pod *pod;
		struct finding *f;

		if (!name || priority_class_is_system(name) ||
		    index_class(index, w, name) || !knows_classes(run))
			continue;
		pod = rule_pod(run, w, i);
		if (!pod)
			return;
		near = nearest_class(run, name);
		f = report_place(
			run, &w->id, rule_place(run, pod_priority_class(pod)),
			rule_cluster(run)
				? "PriorityClass `%s` does not exist: %s%s will be forbidden"
				: "no file defines the PriorityClass `%s`: unless the cluster has it, %s%s will be forbidden",
			name, w->class == KIND_POD ? "" : "the pods of ",
			rule_title(run, w->id.kind, w->id.name));
		finding_of_class(f, pod, pod_priority_class(pod));
		if (near)
			finding_help(run, f, "did you mean `%s`?", near);
		if (!rule_cluster(run))
			finding_severity(f, SEVERITY_INFO);
	}
}

const struct rule rule_priority_class_unknown = {
	.name = "priority-class-unknown",
	.category = "priority",
	.severity = SEVERITY_ERROR,
	.needs = NEEDS_SET,
	.summary =
		"priorityClassName names a PriorityClass that does not exist",
	.why = "The API server forbids Pods with an unknown class: a workload is accepted, but stays at 0 pods.",
	.remedy =
		"Use a class that exists, or add the PriorityClass to the manifests.",
	.evidence =
		"https://github.com/kubernetes/kubernetes/tree/master/plugin/pkg/admission/priority; kube-apiserver: no PriorityClass with name nope was found; observed on kube-apiserver 1.37.2",
	.check_workload = check,
};
