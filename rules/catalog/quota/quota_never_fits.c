/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports workloads that alone request more than a quota of their namespace
 * allows. Pods are admitted one by one until the quota is full: part of the
 * gang starts, holds its GPUs and waits for pods that can never start.
 * Suspended and queued jobs are checked as well. A claim counts by device
 * class, at its worst case (claim.c). Source:
 * pkg/quota/v1/evaluator/core/pods.go; training-operator
 * pkg/controller.v1/common/pod.go (it does not delete the pods that were
 * created).
 */
#include "engine/rule.h"
#include "kube/quota/quota.h"

static void report(struct rule_run *run, const struct quota_case *c)
{
	const struct workload *w = c->workload;
	char need[QUANTITY_TEXT], have[QUANTITY_TEXT];
	struct finding *f;

	f = report_place(
		run, &w->id, &w->place,
		"%s needs %s %s, but %s allows only %s: %s",
		rule_title(run, w->id.kind, w->id.name),
		quantity_text(c->demand.steady, need), c->resource,
		rule_title(run, "quota", c->quota->id.name),
		quantity_text(c->hard->quantity, have),
		w->class == KIND_POD
			? "it can never run"
			: "its pods can never all run at the same time");
	finding_label_place(run, f, &c->hard->place, "the quota");
	finding_cause(run, f, c->resource);
}

static void check(struct rule_run *run, const struct workload *w)
{
	struct quota_case c = {.index = rule_index(run),
			       .workload = w,
			       .classes = rule_classes(run)};

	if (w->child || rule_cluster_lacks(run, CLUSTER_QUOTA) ||
	    (rule_cluster_lost(run) && !c.index->nquotas) ||
	    (!c.index->nquotas && !w->cluster))
		return;
	if (!*w->id.namespace) {
		rule_not_run(run, "the namespace is unknown");
		return;
	}
	while (quota_case_next(rule_accelerators(run), &c))
		if (quantity_cmp(c.demand.steady, c.hard->quantity) > 0)
			report(run, &c);
}

static void check_set(struct rule_run *run)
{
	struct claim_case c = {.index = rule_index(run),
			       .classes = rule_classes(run)};
	char have[QUANTITY_TEXT];
	struct finding *f;

	while (claim_case_next(&c)) {
		if (quantity_cmp(quantity_from(c.claim->counted),
				 c.hard->quantity) <= 0)
			continue;
		f = report_place(
			run, &c.claim->id, &c.claim->place,
			"the claim counts as %s of class `%s`, but %s allows only %s: the API server rejects it",
			rule_count(run, c.claim->counted, "device"),
			c.claim->name,
			rule_title(run, "quota", c.quota->id.name),
			quantity_text(c.hard->quantity, have));
		finding_label_place(run, f, &c.hard->place, "the quota");
		finding_cause(run, f, c.claim->name);
	}
}

const struct rule rule_quota_never_fits = {
	.name = "quota-never-fits",
	.category = "quota",
	.severity = SEVERITY_ERROR,
	.needs = NEEDS_SET,
	.summary =
		"a workload or a claim requests more GPUs than a quota allows in total",
	.why = "Pods are admitted one by one: some start, hold their GPUs and wait for others that can never start.",
	.remedy = "Request fewer replicas or GPUs, or ask for a larger quota.",
	.evidence =
		"https://github.com/kubernetes/kubernetes/tree/master/pkg/quota/v1/evaluator/core; https://github.com/kubeflow/trainer/issues/948; https://github.com/kubernetes-sigs/kueue/issues/2796",
	.check_workload = check,
	.check_set = check_set,
};
