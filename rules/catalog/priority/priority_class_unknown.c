/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A priorityClassName that names no PriorityClass: the owner is accepted, and
 * then each of its Pods is forbidden ("no PriorityClass with name ... was
 * found"). Judged only where the set or the cluster shows PriorityClasses.
 * Source: plugin/pkg/admission/priority admitPod; observed on kube-apiserver.
 */
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/priority.h"

static const char *nearest(struct rule_run *run, const struct fact_set *facts,
			   const char *name)
{
	const char **names =
		ARENA_ARRAY(rule_arena(run), const char *, facts->nclasses);

	for (size_t i = 0; i < facts->nclasses; i++)
		names[i] = facts->classes[i].id.name;
	return text_nearest(name, names, facts->nclasses);
}

static void check(struct rule_run *run, const struct workload *w)
{
	const struct fact_set *facts = rule_facts(run);

	for (size_t i = 0; i < w->npods; i++) {
		const struct workload_pod *pod = &w->pods[i];
		const char *near, *name = pod->priority_class;
		struct finding *f;

		if (!name || pod->priority_unknown ||
		    priority_class_is_system(name))
			continue;
		if (!facts->nclasses || rule_set_is_partial(run)) {
			rule_not_run(run, "needs the set or --cluster");
			continue;
		}
		if (facts_class(facts, name))
			continue;
		f = report_place(
			run, &w->id, &pod->priority_place,
			"there is no PriorityClass `%s`: the pods of %s `%s` will be forbidden",
			name, w->id.kind, w->id.name);
		near = nearest(run, facts, name);
		if (near)
			finding_help(run, f, "did you mean `%s`?", near);
	}
}

const struct rule rule_priority_class_unknown = {
	.name = "priority-class-unknown",
	.category = "priority",
	.severity = SEVERITY_ERROR,
	.action = ACTION_DENY,
	.needs = NEEDS_SET,
	.since = "1.0",
	.summary =
		"priorityClassName names a PriorityClass that does not exist",
	.why = "The workload is accepted, and then every one of its pods is forbidden: it sits there with 0 pods.",
	.remedy =
		"Use a class that exists, or add the PriorityClass to the same set.",
	.evidence =
		"plugin/pkg/admission/priority; kube-apiserver: no PriorityClass with name nope was found",
	.check_workload = check,
};
