/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handles field names in other than the usual case. The controller decodes a
 * patched pod with encoding/json, which ignores the case. It does the same with
 * a workflow in which a parameter is a whole number, because the converter that
 * it tries first fails on it. Argo's minimal CRD keeps fields of any name. If a
 * field occurs in two cases, the values are merged.
 *
 * Source: Argo Workflows workflow/util/util.go, FromUnstructuredObj.
 */
#include "rules/kube/operators/argo.h"

#include <stdlib.h>
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
