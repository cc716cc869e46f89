/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Argo Workflows, Rollouts and analyses: the pods of a Rollout,
 * WorkflowTemplates merged into Workflows, steps that run for every item of a
 * list, and unlimited retries.
 *
 * Sources: Argo docs/retries.md (no limit: until completion); Rollouts' types.
 */
#include "rules/kube/operators/argo.h"

#include <string.h>

#include "kube/runtime.h"

/* Counts the pods of a Rollout: blue-green runs both versions, canary adds
 * maxSurge (25% by default). */
COUNT_FORMULA(rollout)
{
	struct amount replicas = amount_field(at, "replicas", 1);
	const struct node *canary = node_path(at, "strategy.canary");

	if (field_is_set(node_get(at, "strategy"), "blueGreen"))
		return amount_mul(replicas, amount_of(2));
	return amount_add(replicas, amount_share(node_get(canary, "maxSurge"),
						 replicas, 25));
}

/* -- templates of another object ------------------------------------------- */

/* Returns a copy of the map with another value for an existing key. */
static const struct node *replace(struct pod_builder *builder,
				  const struct node *map, const char *key,
				  const struct node *value)
{
	struct node *out = merge_hollow(builder->arena, map);

	FOR_EACH_CHILD(map, child)
		merge_add(builder->arena, &builder->merge_budget, out,
			  !strcmp(child->key, key) ? value : child);
	return out;
}

/*
 * Merges the Workflow's spec into that of the WorkflowTemplate to which it
 * refers, like JoinWorkflowSpec() of workflow/util/merge.go. Returns the
 * Workflow itself if the WorkflowTemplate is not known.
 */
static const struct node *merged(struct pod_builder *builder)
{
	struct object *object = builder->object;
	const struct node *spec = node_get(object->spelled, "spec");
	const struct node *inner = node_get(spec, "workflowSpec");
	const struct node *own = node_is_map(inner) ? inner : spec;
	const struct node *ref = node_get(own, "workflowTemplateRef");
	const struct runtime *from =
		runtime_find(builder,
			     node_is_true(node_get(ref, "clusterScope"))
				     ? "ClusterWorkflowTemplate"
				     : "WorkflowTemplate",
			     node_get(ref, "name"));
	const struct node *base = from ? node_get(from->root, "spec") : NULL;

	if (!node_is_map(base))
		return object->spelled;
	own = template_merge(builder->arena, &builder->merge_budget, base, own);
	if (node_is_map(inner))
		own = replace(builder, spec, "workflowSpec", own);
	return replace(builder, object->spelled, "spec", own);
}

/* -- runs ------------------------------------------------------------------ */

static bool any_fan_out(const struct node *steps)
{
	static const char *const keys[] = {"withItems", "withParam",
					   "withSequence"};

	FOR_EACH_CHILD(steps, step) {
		if (node_is_seq(step) && any_fan_out(step))
			return true;
		for (size_t i = 0; i < 3; i++)
			if (!node_is_unset(node_get(step, keys[i])))
				return true;
	}
	return false;
}

/* True if a step of the workflow runs once for every item of a list. */
static bool fans_out(const struct object *object)
{
	const struct node *spec = node_get(object->merged, "spec");

	if (!node_is_unset(node_get(spec, "workflowSpec")))
		spec = node_get(spec, "workflowSpec");
	FOR_EACH_CHILD(node_get(spec, "templates"), template)
		if (any_fan_out(node_get(template, "steps")) ||
		    any_fan_out(node_path(template, "dag.tasks")))
			return true;
	return false;
}

/* Returns a retryStrategy without a limit, or NULL. `retryStrategy: {}` retries
 * until completion, but a strategy may be restricted to errors of the system,
 * by an expression, or by a maximum duration. */
static const struct node *endless(const struct pod *pod)
{
	const struct node *strategy = pod_field(pod, "retryStrategy");

	if (!node_is_map(strategy) || node_is_unknown(strategy) ||
	    !node_is_unset(node_get(strategy, "limit")) ||
	    !node_is_unset(node_get(strategy, "expression")) ||
	    !node_is_unset(node_path(strategy, "backoff.maxDuration")) ||
	    node_eq(node_get(strategy, "retryPolicy"), "OnError"))
		return NULL;
	return strategy;
}

const struct workload_operator operator_argo = {
	.gpus = argo_devices,
	.patch = argo_patch,
	.spelled = argo_spelled,
	.merged = merged,
	.peaks = argo_peaks,
	.fans_out = fans_out,
	.pods.endless = endless,
};
