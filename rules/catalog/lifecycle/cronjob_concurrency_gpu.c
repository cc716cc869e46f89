/* SPDX-License-Identifier: Apache-2.0 */
/*
 * concurrencyPolicy Allow, the default, starts the next run whether or not the
 * last one has ended: when GPUs are short, runs pile up and ask for a multiple
 * of the GPUs. The same field with the same default is in Argo's CronWorkflow,
 * Spark's and Volcano's schedules. Source: batch/v1 types.go ConcurrencyPolicy;
 * the CRDs of the others.
 */
#include "engine/rule.h"
#include "kube/lifecycle/lifecycle.h"

static void check(struct rule_run *run, const struct object *object)
{
	const struct node *spec = node_get(object->root, "spec");
	const struct node *policy = node_get(spec, "concurrencyPolicy");
	bool unset = node_is_unset(policy);
	struct finding *f;

	if (!object_is_scheduled(object) || !object_gpu_pod(object) ||
	    (unset ? object->fragment : !node_eq(policy, "Allow")))
		return;
	f = report_object(run, object, unset ? NULL : policy,
			  "runs may overlap, each with its own GPUs: "
			  "concurrencyPolicy is `Allow`%s",
			  unset ? " by default" : "");
	fix_set(finding_fix(run, f, true, "forbid overlapping runs"), spec,
		"concurrencyPolicy", edit_string(rule_arena(run), "Forbid"));
}

const struct rule rule_cronjob_concurrency_gpu = {
	.name = "cronjob-concurrency-gpu",
	.category = "lifecycle",
	.severity = SEVERITY_WARNING,
	.flags = RULE_SAFE_PATCH,
	.wants = FACT_GPU,
	.since = "1.0",
	.summary = "scheduled GPU work whose runs may overlap",
	.why = "When a run is late or waits for GPUs the next one starts beside it and multiplies the demand.",
	.remedy = "Set concurrencyPolicy: Forbid.",
	.evidence =
		"https://github.com/kubernetes/api/blob/master/batch/v1/types.go ConcurrencyPolicy (default Allow)",
	.check_object = check,
};
