/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports workloads that can grow beyond their quota. Only growth is checked;
 * other rules check the initial size.
 */
#include "base/text.h"
#include "engine/rule.h"
#include "kube/quota/quota.h"

/* Returns the request of each replica of a workload with one template. */
static struct quantity per_replica(const struct workload *w,
				   const char *resource)
{
	for (size_t i = 0; i < w->pods[0].ndemand; i++)
		if (text_eq(w->pods[0].demand[i].resource, resource))
			return w->pods[0].demand[i].quantity;
	return (struct quantity){0};
}

/* Returns the request of all pods of a scaled workload, 0 if it is unknown. A
 * replica of a LeaderWorkerSet is a group (scale subresource, lws
 * api/leaderworkerset/v1 at 060ab4d). */
static struct quantity scaled(struct rule_run *run, const struct workload *w,
			      const struct quota_case *c, int64_t replicas)
{
	const struct object *object;
	int64_t n = 1;

	if (text_starts(w->id.api_version, "apps/"))
		return quantity_mul(per_replica(w, c->resource), replicas);
	object = rule_object(run, w);
	if (!object ||
	    (!node_is_unset(node_path(object->root, "spec.replicas")) &&
	     !node_int(node_path(object->root, "spec.replicas"), &n)) ||
	    n < 1)
		return quantity_from(0);
	return quantity_mul(quantity_from(quantity_value(c->demand.steady) / n),
			    replicas);
}

static bool is_selected(const struct quota_case *c, const struct workload *w)
{
	for (size_t p = 0; p < w->npods; p++)
		if (quota_selects(c->quota, &w->pods[p]) != TRI_YES)
			return false;
	return true;
}

static bool has_replicas(const struct workload *w)
{
	return (w->npods == 1 && text_starts(w->id.api_version, "apps/")) ||
	       text_starts(w->id.api_version, "leaderworkerset.x-k8s.io/");
}

static void check_scaler(struct rule_run *run, const struct workload *w,
			 const struct scaler *scaler)
{
	struct quota_case c = {.index = rule_index(run),
			       .workload = w,
			       .classes = rule_classes(run)};
	char need[QUANTITY_TEXT], have[QUANTITY_TEXT];
	struct quantity most;
	struct finding *f;

	while (quota_case_next(rule_accelerators(run), &c)) {
		most = scaled(run, w, &c, scaler->most);
		if (quantity_cmp(most, c.hard->quantity) <= 0 ||
		    quantity_cmp(c.demand.steady, c.hard->quantity) > 0 ||
		    !is_selected(&c, w))
			continue;
		f = report_place(run, &scaler->id, &scaler->most_place,
				 "%s can grow to %s %s, but %s allows %s",
				 rule_title(run, w->id.kind, w->id.name),
				 quantity_text(most, need), c.resource,
				 rule_title(run, "quota", c.quota->id.name),
				 quantity_text(c.hard->quantity, have));
		finding_label_place(run, f, &c.hard->place, "the quota");
		finding_cause(run, f, c.resource);
	}
}

/* Checks autoscalers of kinds whose replicas are pods, or groups of them. */
static void check_set(struct rule_run *run)
{
	const struct object_index *set = rule_index(run);
	size_t n;

	if (!set->nscalers)
		return;
	FOR_EACH_WORKLOAD(set, w) {
		index_own_quotas(set, w, &n);
		if (!n || w->child || w->duplicate_of || !has_replicas(w))
			continue;
		for (size_t i = 0; i < set->nscalers; i++)
			if (set->scalers[i].most > 0 &&
			    scaler_scales(set, &set->scalers[i], w))
				check_scaler(run, w, &set->scalers[i]);
	}
}

static void check(struct rule_run *run, const struct workload *w)
{
	struct quota_case c = {.index = rule_index(run),
			       .workload = w,
			       .classes = rule_classes(run)};
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
	.summary = "a workload that can grow beyond its quota",
	.why = "The pods above the quota are rejected one by one: the workload never reaches its maximum.",
	.remedy = "Lower the maximum, or ask for a larger quota.",
	.evidence =
		"https://github.com/kubernetes/kubernetes/tree/master/pkg/quota/v1/evaluator/core",
	.check_workload = check,
	.check_set = check_set,
};
