/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares workloads with the rest of a quota. With a cluster state: a workload
 * that exceeds hard - used in the steady state (without its own usage) is an
 * error if it is a gang, because only part of it would start; other workloads
 * retry. It is a warning if only its peak exceeds it (surge, elastic maximum;
 * not replacement pods, which wait), or if all workloads of a namespace
 * together exceed hard. quota-never-fits reports a single workload above hard.
 * Source: quota evaluator; training-operator controller.v1/common/pod.go. */
#include "engine/rule.h"
#include "kube/quota/quota.h"

/* ", 4 reserved for others", or "". */
static const char *quota_reserved(const struct quota_room *room,
				  struct arena *arena)
{
	char text[QUANTITY_TEXT];

	if (!room->reserved.nano)
		return "";
	return arena_printf(arena, ", %s reserved for others",
			    quantity_text(room->reserved, text));
}

static void report(struct rule_run *run, const struct quota_case *c, bool peak)
{
	const struct workload *w = c->workload;
	char want[QUANTITY_TEXT], left[QUANTITY_TEXT];
	char hard[QUANTITY_TEXT], used[QUANTITY_TEXT];
	bool denies = !peak && w->gang_kind != GANG_NONE;
	const char *who = rule_title(run, w->id.kind, w->id.name);
	const char *quota = rule_title(run, "quota", c->quota->id.name);
	struct finding *f;

	quantity_text(peak ? c->demand.lasting : c->demand.steady, want);
	quantity_text(c->hard->quantity, hard);
	if (c->room.known)
		f = report_place(
			run, &w->id, &w->place,
			"%s %s %s %s, but %s has %s left for it: %s of %s are used%s",
			who, peak ? "peaks at" : "needs", want, c->resource,
			quota, quantity_text(c->room.left, left),
			quantity_text(c->room.used, used), hard,
			quota_reserved(&c->room, rule_arena(run)));
	else
		f = report_place(
			run, &w->id, &w->place,
			"%s peaks at %s %s (rollout, elastic maximum or parallel steps), but %s allows %s",
			who, want, c->resource, quota, hard);
	finding_label_place(run, f, &c->hard->place, "the quota");
	finding_cause(run, f, c->resource);
	finding_severity(f, denies ? SEVERITY_ERROR : SEVERITY_WARNING);
	if (!denies)
		finding_guess(run, f);
}

/* The quota's usage already includes running pods. */
static bool exceeds(const struct quota_room *room, struct quantity need)
{
	return quantity_cmp(need, room->left) > 0 &&
	       quantity_cmp(need, room->own) > 0;
}

static void check_one(struct rule_run *run, const struct workload *w)
{
	struct quota_case c = {.index = rule_index(run), .workload = w};

	if (w->child || rule_cluster_lacks(run, CLUSTER_QUOTA))
		return;
	/* Queued work waits without pods. */
	if (w->suspended || w->kueue)
		return;
	rule_cluster_lost(run);
	while (quota_case_next(rule_accelerators(run), &c)) {
		if (quantity_cmp(c.demand.steady, c.hard->quantity) > 0 ||
		    c.demand.peak.nano == 0)
			continue;
		if (exceeds(&c.room, c.demand.steady))
			report(run, &c, false);
		else if (exceeds(&c.room, c.demand.lasting))
			report(run, &c, true);
	}
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
		"%zu workloads in namespace `%s` need %s %s together, but the quota allows %s",
		sum->workloads, sum->quota->id.namespace,
		quantity_text(sum->steady, need), sum->resource,
		quantity_text(sum->hard->quantity, hard));
	w = workload_at(rule_index(run), sum->largest, rule_arena(run));
	finding_label_place(run, f, &w->place, "the largest of them, %s",
			    rule_title(run, w->id.kind, w->id.name));
	finding_cause(run, f, sum->resource);
}

static void check_set(struct rule_run *run)
{
	size_t n;
	const struct quota_sum *sums = quota_sums(
		rule_index(run), rule_accelerators(run), rule_arena(run), &n);

	for (size_t i = 0; i < n; i++)
		report_sum(run, &sums[i]);
}

const struct rule rule_quota_would_exceed = {
	.name = "quota-would-exceed",
	.category = "quota",
	.severity = SEVERITY_WARNING,
	.flags = RULE_RAISES,
	.needs = NEEDS_SET,
	.since = "1.0",
	.summary =
		"one or several workloads need more than their GPU quota has left, or one does at its peak",
	.why = "Quota admits pods one by one: the last job starts part of its gang and holds those GPUs while it waits.",
	.remedy =
		"Run fewer workloads at once, lower the surge or the elastic maximum, or have the quota raised.",
	.evidence =
		"https://github.com/kubernetes/kubernetes/tree/master/pkg/quota/v1/evaluator/core; https://github.com/kubeflow/kubeflow/issues/5442",
	.check_workload = check_one,
	.check_set = check_set,
};
