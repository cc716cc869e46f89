/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports PodDisruptionBudgets that allow no eviction even if all of their pods
 * are healthy. maxUnavailable 0 and minAvailable 100 % allow none for any
 * number of pods; for other values it depends on which other pods have the
 * labels. Source: pkg/controller/disruption getExpectedPodCount.
 */
#include "engine/rule.h"
#include "kube/set/index_find.h"

enum budget_blocks {
	BUDGET_ALLOWS, /* allows an eviction, or may allow one */
	/* blocks all evictions for this number of pods */
	BUDGET_BLOCKS_SO_MANY,
	BUDGET_BLOCKS_ALL, /* blocks all evictions for any number of pods */
};

/* Returns whether the budget blocks evictions when all pods are healthy.
 * maxUnavailable, and minAvailable as a percentage, refer to the expected
 * number of pods; percentages are rounded up. */
static enum budget_blocks budget_blocks(const struct node *budget,
					struct amount pods)
{
	const struct node *most = node_path(budget, "spec.maxUnavailable");
	const struct node *least = node_path(budget, "spec.minAvailable");
	const struct amount many = amount_of(1000000);
	bool share = node_str(least) != NULL;
	struct amount n;

	if (!node_is_unset(most)) {
		n = amount_share(most, many, 0);
		return node_is_unset(least) && !n.unknown && !n.n
			       ? BUDGET_BLOCKS_ALL
			       : BUDGET_ALLOWS;
	}
	n = amount_share(least, many, 0);
	if (share && !n.unknown && n.n >= many.n)
		return BUDGET_BLOCKS_ALL;
	n = amount_share(least, pods, 0);
	return !n.unknown && !pods.unknown && n.n >= pods.n && n.n
		       ? BUDGET_BLOCKS_SO_MANY
		       : BUDGET_ALLOWS;
}

/* Returns the number of the workload's pods that the budget certainly selects;
 * 0 if none of them uses GPUs. It is unknown if the budget may select more. */
static struct amount budget_selects(const struct node *budget,
				    const struct workload *w,
				    struct arena *arena)
{
	const struct node *selector = node_path(budget, "spec.selector");
	struct amount pods = {0};
	bool gpu = false;

	for (size_t i = 0; i < w->npods; i++) {
		const struct workload_pod *pod = &w->pods[i];
		enum tri is =
			pod->steady.n < 1
				? TRI_NO
				: workload_pod_selected(pod, selector, arena);

		if (is == TRI_YES)
			pods = amount_add(pods, pod->steady);
		pods.unknown |= is == TRI_UNKNOWN;
		gpu |= is == TRI_YES && pod->gpu;
	}
	return gpu ? pods : amount_of(0);
}

/* Sum of the workloads that a budget selects. */
struct budget_tally {
	/* title of the first workload; NULL if the budget selects none */
	const char *title;
	/* each workload is training, a batch job, a notebook or a Pod */
	bool training;
	struct amount pods;
	struct place place;
	struct object_id id;
	const struct node *root;
};

static void report_blocked(struct rule_run *run, const struct budget_tally *t,
			   const struct object_id *id,
			   const struct place *place)
{
	const struct node *most = node_path(t->root, "spec.maxUnavailable");
	const struct node *field =
		node_is_unset(most) ? node_path(t->root, "spec.minAvailable")
				    : most;
	enum budget_blocks how = budget_blocks(t->root, t->pods);
	struct finding *f;

	if (how == BUDGET_ALLOWS)
		return;
	f = report_place(
		run, id, place,
		how == BUDGET_BLOCKS_ALL
			? "`%s: %s` of PodDisruptionBudget `%s` allows no eviction of GPU pods of %s"
			: "`%s: %s` of PodDisruptionBudget `%s` allows no eviction of GPU pods of %s as long as it selects no more than %s",
		field->key, field->str, t->id.name, t->title,
		rule_count(run, t->pods.n, "pod"));
	finding_cause(run, f, t->id.name);
	/* A budget that protects training may be intended. */
	if (how == BUDGET_BLOCKS_SO_MANY || t->training)
		finding_severity(f, SEVERITY_INFO);
}

static void count_budget(struct rule_run *run, const struct workload *w,
			 const struct found_object *budget, struct arena *arena,
			 struct budget_tally *t)
{
	struct amount pods = budget_selects(budget->root, w, arena);

	/* A drain ignores the pods of DaemonSets. */
	if (pods.n < 1 || w->class == KIND_DAEMON)
		return;
	if (!t->title)
		*t = (struct budget_tally){
			.title = rule_title(run, w->id.kind, w->id.name),
			.training = true,
			.place = budget->place,
			.root = budget->root,
			.id = {budget->api_version, "PodDisruptionBudget",
			       arena_strdup(rule_arena(run), w->id.namespace),
			       budget->name}};
	t->training &= w->training || w->class == KIND_BATCH ||
		       w->class == KIND_INTERACTIVE || w->class == KIND_POD ||
		       w->class == KIND_TRAINING;
	t->pods = amount_add(t->pods, pods);
}

/* Reports budgets in files, at their position in the file. */
static void check_set(struct rule_run *run)
{
	const struct object_index *set = rule_index(run);
	struct arena scratch = ARENA_INIT;
	struct budget_tally *tallies;

	if (!index_keeps(set, CLUSTER_DISRUPTION_BUDGET))
		return;
	tallies =
		ARENA_ARRAY(rule_arena(run), struct budget_tally, set->nnamed);
	FOR_EACH_WORKLOAD(set, w) {
		size_t n = 0;
		const struct found_object *all =
			w->child || w->duplicate_of
				? NULL
				: index_selecting(set, w,
						  CLUSTER_DISRUPTION_BUDGET,
						  &scratch, &n);

		for (size_t i = 0; i < n; i++)
			if (all[i].in_set && !all[i].maybe)
				count_budget(run, w, &all[i], &scratch,
					     &tallies[all[i].at]);
		arena_reset(&scratch);
	}
	arena_release(&scratch);
	for (size_t i = 0; i < set->nnamed; i++)
		if (tallies[i].title)
			report_blocked(run, &tallies[i], &tallies[i].id,
				       &tallies[i].place);
}

/* Reports budgets that only the cluster has, at the workload. */
static void check(struct rule_run *run, const struct workload *w)
{
	const struct found_object *all;
	size_t n;

	if (w->child || rule_cluster_lost(run) || !rule_cluster(run) ||
	    rule_cluster_lacks(run, CLUSTER_DISRUPTION_BUDGET))
		return;
	all = index_selecting(rule_index(run), w, CLUSTER_DISRUPTION_BUDGET,
			      rule_arena(run), &n);
	for (size_t i = 0; i < n; i++) {
		struct budget_tally t = {0};

		if (all[i].in_set)
			continue;
		count_budget(run, w, &all[i], rule_arena(run), &t);
		if (t.title)
			report_blocked(run, &t, &w->id, &w->place);
	}
}

const struct rule rule_pdb_blocks_gpu_drain = {
	.name = "pdb-blocks-gpu-drain",
	.category = "serving",
	.severity = SEVERITY_WARNING,
	.needs = NEEDS_SET,
	.summary = "a PodDisruptionBudget allows no eviction of GPU pods",
	.why = "A drain of the node does not end while the budget allows no eviction: driver upgrades, new node images and scale-down wait until the pods are deleted manually.",
	.remedy =
		"Allow one eviction: set maxUnavailable: 1, or a minAvailable below the number of replicas.",
	.evidence =
		"https://kubernetes.io/docs/tasks/run-application/configure-pdb/; https://github.com/kubernetes/kubernetes/tree/master/pkg/controller/disruption getExpectedPodCount",
	.check_workload = check,
	.check_set = check_set,
};
