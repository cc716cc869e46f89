/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Saves the parts of a cluster that results depend on. Policies, bindings and
 * parameters are saved without most metadata. Definitions keep their types,
 * defaults, pruning and rules.
 */
#include "admission_policy_internal.h"
#include "base/text.h"
#include "doc/edit.h"

/* --- policies, bindings, parameters --------------------------------------- */

static void put_metadata(struct arena *arena, struct node *map,
			 const struct node *metadata)
{
	static const char applied[] =
		"kubectl.kubernetes.io/last-applied-configuration";
	const struct node *annotations = node_get(metadata, "annotations");
	struct node *made = schema_put_map(arena, map, "metadata");

	FOR_EACH_CHILD(metadata, child)
		if (text_lists("name namespace labels", child->key))
			schema_put_shared(arena, made, child);
	if (!annotations)
		return;
	made = schema_put_map(arena, made, "annotations");
	FOR_EACH_CHILD(annotations, child)
		if (!text_eq(child->key, applied))
			schema_put_shared(arena, made, child);
}

void admission_save(const char *api_version, const char *kind,
		    const struct node *root, struct buf *out)
{
	struct arena arena = ARENA_INIT;
	struct node *map = edit_map(&arena);

	edit_member_string(&arena, map, "apiVersion", api_version);
	edit_member_string(&arena, map, "kind", kind);
	put_metadata(&arena, map, node_get(root, "metadata"));
	FOR_EACH_CHILD(root, child)
		if (!text_lists("apiVersion kind metadata status", child->key))
			schema_put_shared(&arena, map, child);
	node_json(map, out);
	arena_release(&arena);
}

/* --- definitions ---------------------------------------------------------- */

/* Adds a part of a schema under its own key, with the keywords for types,
 * defaults, pruning and rules only. */
static void put_schema(struct arena *arena, struct node *map,
		       const struct node *schema)
{
	static const char kept[] =
		"type format default nullable x-kubernetes-int-or-string "
		"x-kubernetes-preserve-unknown-fields "
		"x-kubernetes-embedded-resource x-kubernetes-list-type "
		"x-kubernetes-list-map-keys x-kubernetes-map-type "
		"x-kubernetes-validations";
	struct node *made, *properties;

	if (!node_is_map(schema)) {
		schema_put_shared(arena, map, schema);
		return;
	}
	made = schema_put_map(arena, map, schema->key);
	FOR_EACH_CHILD(schema, child) {
		if (text_lists(kept, child->key)) {
			schema_put_shared(arena, made, child);
		} else if (text_lists("items additionalProperties",
				      child->key)) {
			put_schema(arena, made, child);
		} else if (text_eq(child->key, "properties")) {
			properties = schema_put_map(arena, made, child->key);
			FOR_EACH_CHILD(child, property)
				put_schema(arena, properties, property);
		}
	}
}

static struct node *version_of(struct arena *arena, const struct node *version,
			       bool schemas)
{
	const struct node *schema =
		node_path(version, "schema.openAPIV3Schema");
	struct node *map = edit_map(arena);

	schema_put_shared(arena, map, node_get(version, "name"));
	if (node_is_map(node_path(version, "subresources.status")))
		schema_put_map(arena,
			       schema_put_map(arena, map, "subresources"),
			       "status");
	if (schemas && schema)
		put_schema(arena, schema_put_map(arena, map, "schema"), schema);
	return map;
}

static void put_spec(struct arena *arena, struct node *map,
		     const struct node *spec, bool schemas)
{
	const struct node *names = node_get(spec, "names");
	struct node *made = schema_put_map(arena, map, "spec"), *list;

	schema_put_shared(arena, made, node_get(spec, "group"));
	schema_put_shared(arena, made, node_get(spec, "scope"));
	map = schema_put_map(arena, made, "names");
	schema_put_shared(arena, map, node_get(names, "kind"));
	schema_put_shared(arena, map, node_get(names, "plural"));
	list = edit_seq(arena);
	edit_member(arena, made, "versions", list);
	FOR_EACH_CHILD(node_get(spec, "versions"), version)
		if (!node_is_false(node_get(version, "served")))
			edit_item(list, version_of(arena, version, schemas));
}

void admission_save_definition(const struct node *root, bool schemas,
			       const char *left_out, struct buf *out)
{
	struct arena arena = ARENA_INIT;
	struct node *map = edit_map(&arena);

	edit_member_string(&arena, map, "apiVersion",
			   "apiextensions.k8s.io/v1");
	edit_member_string(&arena, map, "kind", "CustomResourceDefinition");
	if (left_out)
		edit_member_string(&arena, map, "leftOut", left_out);
	schema_put_shared(&arena, schema_put_map(&arena, map, "metadata"),
			  node_path(root, "metadata.name"));
	put_spec(&arena, map, node_get(root, "spec"), schemas);
	node_json(map, out);
	arena_release(&arena);
}

static bool schema_has(const struct node *schema, const char *key)
{
	if (!node_is_map(schema))
		return false;
	FOR_EACH_CHILD(node_get(schema, "properties"), property)
		if (schema_has(property, key))
			return true;
	return node_get(schema, key) ||
	       schema_has(node_get(schema, "items"), key) ||
	       schema_has(node_get(schema, "additionalProperties"), key);
}

bool admission_definition_has(const struct node *root, const char *key)
{
	FOR_EACH_CHILD(node_path(root, "spec.versions"), version)
		if (!node_is_false(node_get(version, "served")) &&
		    schema_has(node_path(version, "schema.openAPIV3Schema"),
			       key))
			return true;
	return false;
}
