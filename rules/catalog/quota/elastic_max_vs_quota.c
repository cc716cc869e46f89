/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Other rules judge what it starts with.
 */
#include "engine/rule.h"
#include "kube/quota/quota.h"

static void check(struct rule_run *run, const struct workload *w)
{
	struct quota_case c = {.index = rule_index(run), .workload = w};
	char need[QUANTITY_TEXT], have[QUANTITY_TEXT];
	struct finding *f;

	if (w->child || !w->elastic || !*w->id.namespace ||
	    (!c.index->nquotas && !w->cluster))
		return;
	while (quota_case_next(rule_accelerators(run), &c)) {
		if (quantity_cmp(c.demand.peak, c.hard->quantity) <= 0 ||
		    quantity_cmp(c.demand.steady, c.hard->quantity) > 0)
			continue;
		f = report_place(run, &w->id, &w->place,
				 "%s can grow to %s %s, but %s allows %s",
				 rule_title(run, w->id.kind, w->id.name),
				 quantity_text(c.demand.peak, need), c.resource,
				 rule_title(run, "quota", c.quota->id.name),
				 quantity_text(c.hard->quantity, have));
		finding_label_place(run, f, &c.hard->place, "the quota");
		finding_cause(run, f, c.resource);
	}
}

const struct rule rule_elastic_max_vs_quota = {
	.name = "elastic-max-vs-quota",
	.category = "quota",
	.severity = SEVERITY_WARNING,
	.needs = NEEDS_SET,
	.flags = RULE_PREVIEW,
	.since = "1.0",
	.summary = "an elastic job that can grow beyond its quota",
	.why = "The pods above the quota are rejected one by one: the job never reaches its maximum.",
	.remedy = "Lower the maximum, or have the quota raised.",
	.evidence =
		"https://github.com/kubernetes/kubernetes/tree/master/pkg/quota/v1/evaluator/core",
	.check_workload = check,
};
