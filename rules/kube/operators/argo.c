/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Argo Workflows, Rollouts and analyses: the case of their fields, the pods of
 * a Rollout, WorkflowTemplates merged into Workflows, steps that run for every
 * item of a list, and unlimited retries.
 *
 * Sources: Argo docs/retries.md (no limit: until completion); Rollouts' types.
 */
#include "argo.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "kube/runtime.h"

/*
 * Handles field names in other than the usual case. The controller decodes a
 * patched pod with encoding/json, which ignores the case. It does the same with
 * a workflow in which a parameter is a whole number, because the converter that
 * it tries first fails on it. Argo's minimal CRD keeps fields of any name. If a
 * field occurs in two cases, the values are merged.
 *
 * Source: Argo Workflows workflow/util/util.go, FromUnstructuredObj.
 */

/* True if the keys of the map are chosen by the user. */
static bool has_free_keys(const struct node *map)
{
	static const char *const maps[] = {
		"limits",  "requests", "nodeSelector", "matchLabels",
		"sysctls", "overhead", "annotations",  "labels"};

	for (size_t i = 0; map->key && i < ARRAY_SIZE(maps); i++)
		if (!strcasecmp(map->key, maps[i]))
			return true;
	return false;
}

/* Fields that rules read, in the order of strcasecmp(). */
static const char *const fields[] = {
	"activeDeadlineSeconds",
	"annotations",
	"args",
	"claimName",
	"claims",
	"clusterScope",
	"command",
	"container",
	"containers",
	"containerSet",
	"dag",
	"emptyDir",
	"entrypoint",
	"env",
	"envFrom",
	"hostIPC",
	"hostNetwork",
	"hostPath",
	"hostPID",
	"image",
	"initContainers",
	"inline",
	"labels",
	"limit",
	"limits",
	"manifest",
	"medium",
	"metadata",
	"mountPath",
	"name",
	"nodeName",
	"nodeSelector",
	"parallelism",
	"path",
	"persistentVolumeClaim",
	"podMetadata",
	"podSpecPatch",
	"priorityClassName",
	"privileged",
	"readOnly",
	"requests",
	"resource",
	"resourceClaims",
	"resources",
	"retryStrategy",
	"runtimeClassName",
	"schedulerName",
	"script",
	"securityContext",
	"sidecars",
	"sizeLimit",
	"source",
	"steps",
	"subPath",
	"suspend",
	"tasks",
	"template",
	"templateDefaults",
	"templates",
	"tolerations",
	"value",
	"volumeDevices",
	"volumeMounts",
	"volumes",
	"withItems",
	"withParam",
	"withSequence",
	"workflowSpec",
	"workflowTemplateRef",
};

static int compare_field(const void *key, const void *field)
{
	return strcasecmp(key, *(const char *const *)field);
}

/* Returns the usual name of a field that is written in any case, or NULL. */
static const char *field_in_any_case(const char *key)
{
	const char *const *field =
		key ? bsearch(key, fields, ARRAY_SIZE(fields), sizeof(*fields),
			      compare_field)
		    : NULL;

	return field ? *field : NULL;
}

static bool is_variant(const struct node *node)
{
	const char *field = field_in_any_case(node->key);

	return field && strcmp(node->key, field) != 0;
}

struct node argo_renamed(const struct node *node, const char *field)
{
	struct node out = *node;

	out.key = field;
	out.key_len = (uint32_t)strlen(field);
	out.tag = node_tag(field, out.key_len);
	return out;
}

/* A tree whose variants (fields in a case other than the usual one) are moved
 * to another tree, to be merged afterwards. */
struct respelling {
	struct pod_builder *builder;
	struct node *exact, *variants;
};

static void add_respelled(struct respelling *to, const struct node *child)
{
	struct node *out = to->exact;
	struct node one = *child;

	if (is_variant(&one)) {
		one = argo_renamed(&one, field_in_any_case(one.key));
		out = to->variants;
	}
	merge_add(to->builder->arena, &to->builder->merge_budget, out, &one);
}

/* Starts the two trees with the children before `end`, which have the usual
 * case. */
static void respelling_begin(struct respelling *to, const struct node *tree,
			     const struct node *end)
{
	to->exact = merge_hollow(to->builder->arena, tree);
	to->variants = merge_hollow(to->builder->arena, tree);
	for (const struct node *child = tree->first; child != end;
	     child = child->next)
		merge_add(to->builder->arena, &to->builder->merge_budget,
			  to->exact, child);
}

const struct node *argo_respelled(struct pod_builder *builder,
				  const struct node *tree)
{
	struct respelling to = {.builder = builder};

	if (!tree || has_free_keys(tree))
		return tree;
	FOR_EACH_CHILD(tree, child) {
		const struct node *one = argo_respelled(builder, child);

		if (!to.exact && one == child && !is_variant(child))
			continue;
		if (!to.exact)
			respelling_begin(&to, tree, child);
		add_respelled(&to, one);
	}
	if (!to.exact)
		return tree;
	return to.variants->len
		       ? value_merge(builder->arena, &builder->merge_budget,
				     to.exact, to.variants)
		       : to.exact;
}

/* -- workflows ------------------------------------------------------------- */

static bool is_number(const struct node *node)
{
	return node && node->type == NODE_INT && !node_is_unknown(node);
}

static bool any_number(const struct node *parameters)
{
	FOR_EACH_CHILD(parameters, one) {
		if (is_number(node_get(one, "value")) ||
		    is_number(node_get(one, "default")) ||
		    is_number(node_path(one, "valueFrom.default")))
			return true;
		FOR_EACH_CHILD(node_get(one, "enum"), value)
			if (is_number(value))
				return true;
	}
	return false;
}

static bool any_number_parameter(const struct node *tree)
{
	FOR_EACH_CHILD(tree, child) {
		bool list = child->key && !strcmp(child->key, "parameters");

		if (list ? any_number(child) : any_number_parameter(child))
			return true;
	}
	return false;
}

/* Returns the object as the controller decodes it. */
static const struct node *argo_spelled(struct pod_builder *builder)
{
	const struct node *root = builder->object->root;
	const struct node *spec = node_get(root, "spec"), *other;
	struct node *out;

	if (!any_number_parameter(spec))
		return root;
	other = argo_respelled(builder, spec);
	if (other == spec)
		return root;
	out = merge_hollow(builder->arena, root);
	FOR_EACH_CHILD(root, child)
		merge_add(builder->arena, &builder->merge_budget, out,
			  child == spec ? other : child);
	return out;
}

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
