/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports a training workload with a higher priority class than a model server:
 * if GPUs are scarce, the scheduler evicts the server to start the training.
 * Pods of equal priority never preempt each other. With preemptionPolicy:
 * Never, the training class keeps its place in the queue without evicting pods.
 * The rule does not compare the nodes on which both may run. Source:
 * pkg/scheduler/framework/preemption (strictly lower priority, on a node that
 * the preemptor may use).
 */
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/lifecycle/priority.h"

static void check(struct rule_run *run, const struct workload *w)
{
	const struct object_index *index = rule_index(run);

	if (!index->serving_class || index->serving_cluster != w->cluster ||
	    index->serving_set != index_set_of(index, w) || !w->training ||
	    w->serving)
		return;
	for (size_t p = 0; p < w->npods; p++) {
		const char *name = w->pods[p].priority_class;
		const struct priority_class *c =
			name ? index_class(index, w, name) : NULL;
		const struct pod *pod;
		struct finding *f;

		if (!c || c->value.unknown || c->never_preempts ||
		    c->value.n <= index->serving_value)
			continue;
		pod = rule_pod(run, w, p);
		if (!pod)
			return;
		f = report_place(
			run, &w->id, rule_place(run, pod_priority_class(pod)),
			"if they share nodes, training at `%s` (%s) preempts %s `%s`, which serves at `%s` (%s)",
			c->id.name, rule_number(run, c->value.n),
			index->server.kind, index->server.name,
			index->serving_class,
			rule_number(run, index->serving_value));
		finding_label_place(run, f, &c->value_place,
				    "without preemptionPolicy: Never");
		return;
	}
}

const struct rule rule_batch_preempts_serving = {
	.name = "batch-preempts-serving",
	.category = "priority",
	.severity = SEVERITY_WARNING,
	.needs = NEEDS_SET,
	.since = "1.0",
	.summary = "a training job's priority class preempts a model server's",
	.why = "When GPUs are short, running model servers are evicted to start a batch job.",
	.remedy =
		"Give the training class preemptionPolicy: Never, or a lower value than serving.",
	.evidence =
		"https://github.com/kubernetes/kubernetes/tree/master/pkg/scheduler/framework/preemption: pods of strictly lower priority are victims",
	.check_workload = check,
};
