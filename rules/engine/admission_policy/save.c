/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a snapshot of a cluster keeps to judge by: policies, bindings and
 * parameters but for their metadata; of a definition what decides about types,
 * defaults, pruning, and its rules.
 */
#include <string.h>

#include "admission_policy_internal.h"
#include "base/text.h"

/* A key, after a comma where it is not the first one. */
static void put_key(struct buf *out, const char *key, size_t len)
{
	if (out->len && out->data[out->len - 1] != '{')
		buf_addc(out, ',');
	text_json(key, len, out);
	buf_addc(out, ':');
}

static void put_member(struct buf *out, const char *key, const char *text)
{
	put_key(out, key, strlen(key));
	text_json(text, strlen(text), out);
}

static void put_child(struct buf *out, const struct node *child)
{
	if (!child)
		return;
	put_key(out, child->key, child->key_len);
	node_json(child, out);
}

/* --- policies, bindings, parameters --------------------------------------- */

static void put_metadata(struct buf *out, const struct node *metadata)
{
	static const char applied[] =
		"kubectl.kubernetes.io/last-applied-configuration";
	const struct node *annotations = node_get(metadata, "annotations");

	put_key(out, "metadata", 8);
	buf_addc(out, '{');
	FOR_EACH_CHILD(metadata, child)
		if (text_lists("name namespace labels", child->key))
			put_child(out, child);
	if (annotations) {
		put_key(out, "annotations", 11);
		buf_addc(out, '{');
		FOR_EACH_CHILD(annotations, child)
			if (!text_eq(child->key, applied))
				put_child(out, child);
		buf_addc(out, '}');
	}
	buf_addc(out, '}');
}

void admission_save(const char *api_version, const char *kind,
		    const struct node *root, struct buf *out)
{
	buf_addc(out, '{');
	put_member(out, "apiVersion", api_version);
	put_member(out, "kind", kind);
	put_metadata(out, node_get(root, "metadata"));
	FOR_EACH_CHILD(root, child)
		if (!text_lists("apiVersion kind metadata status", child->key))
			put_child(out, child);
	buf_addc(out, '}');
}

/* --- definitions ---------------------------------------------------------- */

static void put_schema(struct buf *out, const struct node *schema);

static void put_properties(struct buf *out, const struct node *properties)
{
	buf_addc(out, '{');
	FOR_EACH_CHILD(properties, property) {
		put_key(out, property->key, property->key_len);
		put_schema(out, property);
	}
	buf_addc(out, '}');
}

static void put_schema(struct buf *out, const struct node *schema)
{
	static const char kept[] =
		"type format default nullable x-kubernetes-int-or-string "
		"x-kubernetes-preserve-unknown-fields "
		"x-kubernetes-embedded-resource x-kubernetes-list-type "
		"x-kubernetes-list-map-keys x-kubernetes-map-type "
		"x-kubernetes-validations";

	if (!node_is_map(schema)) {
		node_json(schema, out);
		return;
	}
	buf_addc(out, '{');
	FOR_EACH_CHILD(schema, child) {
		if (text_lists(kept, child->key)) {
			put_child(out, child);
		} else if (text_lists("items additionalProperties",
				      child->key)) {
			put_key(out, child->key, child->key_len);
			put_schema(out, child);
		} else if (text_eq(child->key, "properties")) {
			put_key(out, child->key, child->key_len);
			put_properties(out, child);
		}
	}
	buf_addc(out, '}');
}

static void put_versions(struct buf *out, const struct node *versions,
			 bool schemas)
{
	bool first = true;

	put_key(out, "versions", 8);
	buf_addc(out, '[');
	FOR_EACH_CHILD(versions, version) {
		const struct node *schema =
			node_path(version, "schema.openAPIV3Schema");

		if (node_is_false(node_get(version, "served")))
			continue;
		buf_adds(out, first ? "{" : ",{");
		first = false;
		put_child(out, node_get(version, "name"));
		if (node_is_map(node_path(version, "subresources.status")))
			buf_adds(out, ",\"subresources\":{\"status\":{}}");
		if (schemas && schema) {
			buf_adds(out, ",\"schema\":{\"openAPIV3Schema\":");
			put_schema(out, schema);
			buf_addc(out, '}');
		}
		buf_addc(out, '}');
	}
	buf_addc(out, ']');
}

void admission_save_definition(const struct node *root, bool schemas,
			       const char *left_out, struct buf *out)
{
	const struct node *spec = node_get(root, "spec");
	const struct node *names = node_get(spec, "names");

	buf_addc(out, '{');
	put_member(out, "apiVersion", "apiextensions.k8s.io/v1");
	put_member(out, "kind", "CustomResourceDefinition");
	if (left_out)
		put_member(out, "leftOut", left_out);
	buf_adds(out, ",\"metadata\":{");
	put_child(out, node_path(root, "metadata.name"));
	buf_adds(out, "},\"spec\":{");
	put_child(out, node_get(spec, "group"));
	put_child(out, node_get(spec, "scope"));
	put_key(out, "names", 5);
	buf_addc(out, '{');
	put_child(out, node_get(names, "kind"));
	put_child(out, node_get(names, "plural"));
	buf_addc(out, '}');
	put_versions(out, node_get(spec, "versions"), schemas);
	buf_adds(out, "}}");
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
