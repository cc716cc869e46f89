/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports GPU workloads that the input contains more than once: kubectl applies
 * one over the other, kustomize rejects them, and Argo CD warns
 * (RepeatedResourceWarning). The first one by path counts for quotas, and the
 * others are reported.
 */
#include "engine/rule.h"

static void check(struct rule_run *run, const struct workload *w)
{
	struct finding *f;

	/* A patch has the same name as the object that it changes. */
	if (!w->duplicate_of || w->fragment)
		return;
	f = report_place(
		run, &w->id, &w->place,
		"%s `%s` of namespace `%s` is defined more than once in the input",
		w->id.kind, w->id.name, w->id.namespace);
	finding_label_place(run, f, &w->duplicate_of->place,
			    "the first definition, which is counted");
}

const struct rule rule_object_duplicate = {
	.name = "object-duplicate",
	.category = "input",
	.severity = SEVERITY_INFO,
	.needs = NEEDS_SET,
	.flags = RULE_DUPLICATES,
	.summary =
		"a GPU workload that is defined more than once in the linted files",
	.why = "If all definitions are applied, the last one overwrites the others, and their order is arbitrary.",
	.remedy =
		"Keep one definition, or lint the folders of different clusters separately.",
	.evidence =
		"https://github.com/argoproj/argo-cd/issues/1070 (RepeatedResourceWarning); kustomize: may not add resource with an already registered id",
	.check_workload = check,
};
