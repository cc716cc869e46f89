/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workloads against a quota's hard value. Without a cluster state: all
 * workloads of the set in one namespace together, or one workload at its
 * peak (rollout surge, elastic maximum), above hard is a warning: they may
 * not run at once, and the later ones wait with a part of their pods.
 * One workload alone above hard at steady state is quota-never-fits.
 * Source: pkg/quota/v1/evaluator/core; partial gangs as in
 * training-operator pkg/controller.v1/common/pod.go.
 */
#include "engine/rule.h"
#include "kube/quota.h"

static void check_peak(struct rule_run *run, const struct workload *w,
		       const struct quota *quota,
		       const struct resource_amount *hard)
{
	const char *resource = quota_accelerator(rule_accelerators(run), hard);
	char peak[QUANTITY_TEXT], have[QUANTITY_TEXT];
	struct demand demand;
	struct finding *f;

	if (!resource || hard->unknown)
		return;
	demand = workload_demand(w, quota, resource);
	if (quantity_cmp(demand.steady, hard->quantity) > 0 ||
	    quantity_cmp(demand.peak, hard->quantity) <= 0 ||
	    demand.peak.nano == 0)
		return;
	f = report_place(
		run, &w->id, &w->place,
		"%s `%s` peaks at %s %s (rollout or elastic maximum), quota `%s` allows %s",
		w->id.kind, w->id.name, quantity_text(demand.peak, peak),
		resource, quota->id.name, quantity_text(hard->quantity, have));
	finding_label_place(run, f, &hard->place, "the quota");
	finding_cause(run, f, resource);
}

static void check_one(struct rule_run *run, const struct workload *w)
{
	size_t n;
	const struct quota *quotas =
		facts_quotas(rule_facts(run), w->id.namespace, &n);

	for (size_t q = 0; q < n && !w->child; q++)
		for (size_t i = 0; i < quotas[q].nhard; i++)
			check_peak(run, w, &quotas[q], &quotas[q].hard[i]);
}

static void report_sum(struct rule_run *run, const struct quota_sum *sum)
{
	const struct workload *w;
	char need[QUANTITY_TEXT], hard[QUANTITY_TEXT];
	struct finding *f;

	if (sum->workloads < 2 ||
	    quantity_cmp(sum->steady, sum->hard->quantity) <= 0)
		return;
	f = report_place(
		run, &sum->quota->id, &sum->hard->place,
		"%zu workloads of namespace `%s` need %s %s together, the quota allows %s",
		sum->workloads, sum->quota->id.namespace,
		quantity_text(sum->steady, need), sum->resource,
		quantity_text(sum->hard->quantity, hard));
	w = workload_at(rule_facts(run), sum->largest, rule_arena(run));
	if (w)
		finding_label_place(run, f, &w->place,
				    "the largest of them, %s `%s`", w->id.kind,
				    w->id.name);
	finding_cause(run, f, sum->resource);
}

static void check_set(struct rule_run *run)
{
	size_t n;
	const struct quota_sum *sums = quota_sums(
		rule_facts(run), rule_accelerators(run), rule_arena(run), &n);

	for (size_t i = 0; i < n; i++)
		report_sum(run, &sums[i]);
}

const struct rule rule_quota_would_exceed = {
	.name = "quota-would-exceed",
	.category = "quota",
	.severity = SEVERITY_WARNING,
	.action = ACTION_DENY,
	.needs = NEEDS_SET,
	.since = "1.0",
	.summary = "workloads together, or one at its peak, exceed a GPU quota",
	.why = "Quota admits pod by pod: the job that comes last starts a part of its gang and holds those GPUs while it waits.",
	.remedy =
		"Run fewer at once, lower the surge or the elastic maximum, or have the quota raised.",
	.evidence =
		"pkg/quota/v1/evaluator/core; kubeflow/kubeflow#5442; kubeflow/trainer#948",
	.check_workload = check_one,
	.check_set = check_set,
};
