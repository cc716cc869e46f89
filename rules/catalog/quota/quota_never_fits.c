/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One workload alone asks for more than a quota of its namespace allows at
 * all. Pods are admitted one by one until the quota is full: a part of the
 * gang starts, holds its GPUs and waits for pods that can never come. That
 * holds for suspended and queued jobs too.
 * Source: pkg/quota/v1/evaluator/core/pods.go; training-operator
 * pkg/controller.v1/common/pod.go (nothing is rolled back).
 */
#include "engine/rule.h"
#include "kube/quota.h"

static void check_hard(struct rule_run *run, const struct workload *w,
		       const struct quota *quota,
		       const struct resource_amount *hard)
{
	const char *resource = quota_accelerator(rule_accelerators(run), hard);
	struct demand demand;
	char need[QUANTITY_TEXT], have[QUANTITY_TEXT];
	struct finding *f;

	if (!resource || hard->unknown)
		return;
	demand = workload_demand(w, quota, resource);
	if (quantity_cmp(demand.steady, hard->quantity) <= 0)
		return;
	f = report_place(
		run, &w->id, &w->place,
		"%s `%s` needs %s %s, quota `%s` allows %s in all: it can never run",
		w->id.kind, w->id.name, quantity_text(demand.steady, need),
		resource, quota->id.name, quantity_text(hard->quantity, have));
	finding_label_place(run, f, &hard->place, "the quota");
	finding_cause(run, f, resource);
}

static void check(struct rule_run *run, const struct workload *w)
{
	const struct fact_set *facts = rule_facts(run);
	const struct quota *quotas;
	size_t n;

	if (w->child || !facts->nquotas)
		return;
	if (!*w->id.namespace) {
		rule_not_run(run, "the namespace is not known");
		return;
	}
	quotas = facts_quotas(facts, w->id.namespace, &n);
	for (size_t q = 0; q < n; q++)
		for (size_t i = 0; i < quotas[q].nhard; i++)
			check_hard(run, w, &quotas[q], &quotas[q].hard[i]);
}

const struct rule rule_quota_never_fits = {
	.name = "quota-never-fits",
	.category = "quota",
	.severity = SEVERITY_ERROR,
	.action = ACTION_DENY,
	.needs = NEEDS_SET,
	.since = "1.0",
	.summary =
		"a workload alone asks for more GPUs than its quota allows at all",
	.why = "Pods are admitted one by one: some start, hold their GPUs and wait for others that can never come.",
	.remedy = "Ask for fewer replicas or GPUs, or have the quota raised.",
	.evidence =
		"pkg/quota/v1/evaluator/core; kubeflow/trainer#948; kubernetes-sigs/kueue#2796",
	.check_workload = check,
};
