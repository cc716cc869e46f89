/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A training class above a serving class: when GPUs are short the scheduler
 * evicts model servers to start a batch job. Equal priority never preempts;
 * preemptionPolicy: Never on the training class keeps its place in the queue
 * without evicting anybody.
 * Source: pkg/scheduler/framework/preemption (strictly lower priority).
 */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"

static const struct priority_class *class_of(const struct fact_set *facts,
					     const struct workload_pod *pod)
{
	for (size_t i = 0; pod->priority_class && i < facts->nclasses; i++)
		if (!strcmp(facts->classes[i].id.name, pod->priority_class))
			return &facts->classes[i];
	return NULL;
}

/* The lowest class that a serving workload of the set names. */
static const struct priority_class *lowest_serving(const struct fact_set *facts,
						   const struct workload **who)
{
	const struct priority_class *lowest = NULL;

	for (size_t i = 0; i < facts->nworkloads; i++) {
		const struct workload *w = &facts->workloads[i];

		for (size_t p = 0; w->serving && p < w->npods; p++) {
			const struct priority_class *c =
				class_of(facts, &w->pods[p]);

			if (!c || c->value.unknown ||
			    (lowest && c->value.n >= lowest->value.n))
				continue;
			lowest = c;
			*who = w;
		}
	}
	return lowest;
}

static void check(struct rule_run *run, const struct workload *w)
{
	const struct fact_set *facts = rule_facts(run);
	const struct workload *who = NULL;
	const struct priority_class *serving;

	if (!w->training || w->serving)
		return;
	serving = lowest_serving(facts, &who);
	for (size_t p = 0; serving && p < w->npods; p++) {
		const struct priority_class *c = class_of(facts, &w->pods[p]);
		struct finding *f;

		if (!c || c->value.unknown || c->never_preempts ||
		    c->value.n <= serving->value.n)
			continue;
		f = report_place(
			run, &w->id, &w->pods[p].priority_place,
			"training at `%s` (%" PRId64
			") preempts %s `%s`, which serves at `%s` (%" PRId64
			")",
			c->id.name, c->value.n, who->id.kind, who->id.name,
			serving->id.name, serving->value.n);
		finding_label_place(run, f, &c->value_place,
				    "without preemptionPolicy: Never");
		return;
	}
}

const struct rule rule_batch_preempts_serving = {
	.name = "batch-preempts-serving",
	.category = "priority",
	.severity = SEVERITY_WARNING,
	.action = ACTION_WARN,
	.needs = NEEDS_SET,
	.since = "1.0",
	.summary = "a training job's class preempts a model server's",
	.why = "When GPUs are short, running model servers are evicted to start a batch job.",
	.remedy =
		"Give the training class preemptionPolicy: Never, or a lower value than serving.",
	.evidence =
		"pkg/scheduler/framework/preemption: pods of strictly lower priority are victims",
	.check_workload = check,
};
