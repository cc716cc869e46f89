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
#include "kube/lifecycle/lifecycle.h"

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
			"priority class `%s` (%s) of this training is above `%s` (%s) of %s: if both run on the same nodes and GPUs are short, the training preempts the model server",
			c->id.name, rule_number(run, c->value.n),
			index->serving_class,
			rule_number(run, index->serving_value),
			rule_title(run, index->server.kind,
				   index->server.name));
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
	.summary =
		"a training workload has a higher priority class than a model server",
	.why = "When GPUs are short, running model servers are evicted to start the training.",
	.remedy =
		"Give the training's class preemptionPolicy: Never, or a lower value than the model server's class.",
	.evidence =
		"https://github.com/kubernetes/kubernetes/tree/master/pkg/scheduler/framework/preemption: pods of strictly lower priority are victims",
	.check_workload = check,
};
