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

struct sum {
	const struct quota *quota;
	const struct resource_amount *hard;
	const char *resource;
	struct quantity steady;
	size_t workloads;
	const struct workload *largest;
	struct quantity largest_demand;
};

static void add_workload(struct rule_run *run, struct sum *sum,
			 const struct workload *w)
{
	struct demand demand = workload_demand(w, sum->quota, sum->resource);
	char peak[QUANTITY_TEXT], hard[QUANTITY_TEXT];
	struct finding *f;

	if (w->child || w->duplicate_of || demand.peak.nano == 0)
		return;
	sum->steady = quantity_add(sum->steady, demand.steady);
	sum->workloads++;
	if (!sum->largest ||
	    quantity_cmp(demand.steady, sum->largest_demand) > 0) {
		sum->largest = w;
		sum->largest_demand = demand.steady;
	}
	if (quantity_cmp(demand.steady, sum->hard->quantity) > 0 ||
	    quantity_cmp(demand.peak, sum->hard->quantity) <= 0)
		return;
	f = report_place(
		run, &w->id, &w->place,
		"%s `%s` peaks at %s %s (rollout or elastic maximum), quota `%s` allows %s",
		w->id.kind, w->id.name, quantity_text(demand.peak, peak),
		sum->resource, sum->quota->id.name,
		quantity_text(sum->hard->quantity, hard));
	finding_label_place(run, f, &sum->hard->place, "the quota");
	finding_cause(run, f, sum->resource);
}

static void check_hard(struct rule_run *run, struct sum *sum)
{
	const struct fact_set *facts = rule_facts(run);
	char need[QUANTITY_TEXT], hard[QUANTITY_TEXT];
	struct finding *f;

	for (size_t i = 0; i < facts->nworkloads; i++)
		if (quota_in_namespace(sum->quota,
				       facts->workloads[i].id.namespace))
			add_workload(run, sum, &facts->workloads[i]);
	if (sum->workloads < 2 ||
	    quantity_cmp(sum->steady, sum->hard->quantity) <= 0)
		return;
	f = report_place(
		run, &sum->quota->id, &sum->hard->place,
		"%zu workloads of namespace `%s` need %s %s together, the quota allows %s",
		sum->workloads, sum->quota->id.namespace,
		quantity_text(sum->steady, need), sum->resource,
		quantity_text(sum->hard->quantity, hard));
	finding_label_place(run, f, &sum->largest->place,
			    "the largest of them, %s `%s`",
			    sum->largest->id.kind, sum->largest->id.name);
	finding_cause(run, f, sum->resource);
}

static void check(struct rule_run *run)
{
	const struct fact_set *facts = rule_facts(run);

	for (size_t q = 0; q < facts->nquotas; q++) {
		const struct quota *quota = &facts->quotas[q];

		for (size_t i = 0; i < quota->nhard; i++) {
			struct sum sum = {.quota = quota,
					  .hard = &quota->hard[i]};

			sum.resource = quota_accelerator(rule_accelerators(run),
							 sum.hard);
			if (sum.resource && !sum.hard->unknown)
				check_hard(run, &sum);
		}
	}
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
	.check_set = check,
};
