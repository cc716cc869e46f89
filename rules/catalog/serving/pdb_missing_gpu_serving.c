/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports model servers with several replicas that no disruption budget
 * selects, so that a drain may evict all of them at once. The rule checks them
 * only if the snapshot or the files have budgets, because a site without any
 * may use other means.
 */
#include "engine/rule.h"
#include "kube/set/index_find.h"

/* True if budgets are known. Otherwise the rule is recorded as skipped. */
static bool knows_budgets(struct rule_run *run, const struct workload *w)
{
	const struct cluster *cluster = rule_cluster(run);

	if (rule_cluster_lacks(run, CLUSTER_DISRUPTION_BUDGET))
		return false;
	if (!*w->id.namespace)
		rule_not_run(run, "the namespace is unknown");
	else if (cluster && !cluster_count(cluster, CLUSTER_DISRUPTION_BUDGET))
		rule_not_run(
			run,
			"the cluster snapshot has no poddisruptionbudgets");
	else if (!cluster &&
		 (rule_set_is_partial(run) ||
		  !index_keeps(rule_index(run), CLUSTER_DISRUPTION_BUDGET)))
		rule_not_run(run, rule_without_cluster(run));
	else
		return true;
	return false;
}

/* True if certainly no budget selects these pods. */
static bool is_free(struct rule_run *run, const struct workload *w,
		    const struct workload_pod *pod)
{
	struct arena *arena = rule_arena(run);
	size_t n;
	const struct found_object *all = index_selecting(
		rule_index(run), w, CLUSTER_DISRUPTION_BUDGET, arena, &n);

	for (size_t i = 0; i < n; i++)
		if (!all[i].root ||
		    workload_pod_selected(
			    pod, node_path(all[i].root, "spec.selector"),
			    arena) != TRI_NO)
			return false;
	if (all && rule_cluster(run))
		cluster_absent(rule_cluster(run), CLUSTER_DISRUPTION_BUDGET,
			       w->id.namespace, NULL);
	return all != NULL;
}

static void check(struct rule_run *run, const struct workload *w)
{
	if (w->child || !w->serving || w->training)
		return;
	for (size_t i = 0; i < w->npods; i++) {
		const struct workload_pod *pod = &w->pods[i];

		/* An operator that adds labels may add a budget as well. */
		if (!pod->gpu || pod->more_labels || pod->steady.unknown ||
		    pod->steady.n < 2 || !knows_budgets(run, w) ||
		    !is_free(run, w, pod))
			continue;
		report_place(
			run, &w->id, &w->place,
			rule_cluster(run)
				? "no PodDisruptionBudget selects the %s of %s: a drain may evict all of them at once"
				: "no file defines a PodDisruptionBudget for the %s of %s: if the cluster has none, a drain may evict all of them at once",
			rule_count(run, pod->steady.n, "replica"),
			rule_title(run, w->id.kind, w->id.name));
	}
}

const struct rule rule_pdb_missing_gpu_serving = {
	.name = "pdb-missing-gpu-serving",
	.category = "serving",
	.severity = SEVERITY_INFO,
	.needs = NEEDS_SET,
	.flags = RULE_PREVIEW | RULE_ABSENCE,
	.summary =
		"a model server with several replicas has no PodDisruptionBudget",
	.why = "When nodes are drained, all replicas may be evicted together, and no replica answers until the model is loaded again.",
	.remedy = "Add a PodDisruptionBudget with maxUnavailable: 1.",
	.evidence =
		"https://kubernetes.io/docs/concepts/workloads/pods/disruptions/#pod-disruption-budgets",
	.check_workload = check,
};
