/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Field names in other letters. The controller decodes a patched pod with
 * encoding/json, which ignores their case, and so it does with a workflow in
 * which a parameter is a whole number: the converter that it tries first fails
 * on it. Argo's minimal CRD keeps any field. Values of both spellings are
 * merged.
 *
 * Source: Argo Workflows workflow/util/util.go, FromUnstructuredObj.
 */
#include "rules/kube/operators/argo.h"

#include <string.h>
#include <strings.h>

#include "base/array.h"

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

/* Fields that rules read. */
static const char *const fields[] = {
	"containers",
	"initContainers",
	"name",
	"resources",
	"limits",
	"requests",
	"volumes",
	"hostPath",
	"path",
	"volumeMounts",
	"mountPath",
	"subPath",
	"env",
	"value",
	"envFrom",
	"image",
	"securityContext",
	"privileged",
	"hostPID",
	"hostNetwork",
	"hostIPC",
	"nodeName",
	"nodeSelector",
	"tolerations",
	"claims",
	"resourceClaims",
	"runtimeClassName",
	"command",
	"args",
	"volumeDevices",
	"emptyDir",
	"medium",
	"sizeLimit",
	"claimName",
	"persistentVolumeClaim",
	"readOnly",
	"schedulerName",
	"priorityClassName",
	"metadata",
	"annotations",
	"labels",
	/* of a workflow */
	"entrypoint",
	"templates",
	"template",
	"templateDefaults",
	"inline",
	"steps",
	"dag",
	"tasks",
	"container",
	"containerSet",
	"script",
	"source",
	"sidecars",
	"resource",
	"manifest",
	"podSpecPatch",
	"podMetadata",
	"workflowSpec",
	"workflowTemplateRef",
	"clusterScope",
	"withItems",
	"withParam",
	"withSequence",
	"parallelism",
	"suspend",
	"retryStrategy",
	"limit",
	"activeDeadlineSeconds",
};

/* Returns the field that has this name in any case of its letters, or NULL. */
static const char *field_in_any_case(const char *key)
{
	for (size_t i = 0; key && i < ARRAY_SIZE(fields); i++)
		if (!strcasecmp(key, fields[i]))
			return fields[i];
	return NULL;
}

static bool is_variant(const struct node *node)
{
	const char *field = field_in_any_case(node->key);

	return field && strcmp(node->key, field) != 0;
}

static bool any_variant(const struct node *tree)
{
	if (!tree || has_free_keys(tree))
		return false;
	FOR_EACH_CHILD(tree, child)
		if (is_variant(child) || any_variant(child))
			return true;
	return false;
}

struct node argo_renamed(const struct node *node, const char *field)
{
	struct node out = *node;

	out.key = field;
	out.key_len = (uint32_t)strlen(field);
	out.tag = node_tag(field, out.key_len);
	return out;
}

const struct node *argo_respelled(struct pod_builder *builder,
				  const struct node *tree)
{
	struct node *exact, *variants;
	uint32_t *budget = &builder->merge_budget;

	if (!any_variant(tree))
		return tree;
	exact = merge_hollow(builder->arena, tree);
	variants = merge_hollow(builder->arena, tree);
	FOR_EACH_CHILD(tree, child) {
		struct node one = *argo_respelled(builder, child);

		if (is_variant(&one)) {
			one = argo_renamed(&one, field_in_any_case(one.key));
			merge_add(builder->arena, budget, variants, &one);
		} else {
			merge_add(builder->arena, budget, exact, &one);
		}
	}
	return variants->len
		       ? value_merge(builder->arena, budget, exact, variants)
		       : exact;
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

const struct node *argo_spelled(struct pod_builder *builder)
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
