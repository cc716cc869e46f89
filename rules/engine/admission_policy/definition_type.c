/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Derives the type of `self` from a structural schema (apiserver pkg/cel/common
 * SchemaDeclType(), pkg/cel DeclType.MaybeAssignTypeName()).
 */
#include <string.h>

#include "admission_policy_internal.h"
#include "base/array.h"
#include "base/text.h"
#include "doc/build.h"
#include "doc/edit.h"

/* --- fields of every object ----------------------------------------------- */

struct node *schema_put_map(struct arena *arena, struct node *map,
			    const char *key)
{
	struct node *child = edit_map(arena);

	edit_member(arena, map, key, child);
	return child;
}

static struct node *put_field(struct arena *arena, struct node *map,
			      const char *key, const char *type)
{
	return edit_member_string(arena, schema_put_map(arena, map, key),
				  "type", type);
}

void schema_put_shared(struct arena *arena, struct node *map,
		       const struct node *child)
{
	struct node *copy;

	if (!child)
		return;
	copy = ARENA_NEW(arena, struct node);
	*copy = *child;
	node_append(map, copy);
}

static const struct node *with_embedded(struct arena *arena,
					const struct node *schema);

static bool is_of_every_object(const struct node *property)
{
	return text_eq(property->key, "apiVersion") ||
	       text_eq(property->key, "kind") ||
	       text_eq(property->key, "metadata");
}

static const struct node *root_schema(struct arena *arena,
				      const struct node *schema)
{
	struct node *root = edit_map(arena), *properties, *metadata;

	FOR_EACH_CHILD(schema, child)
		if (!text_eq(child->key, "properties"))
			schema_put_shared(arena, root, child);
	properties = schema_put_map(arena, root, "properties");
	FOR_EACH_CHILD(node_get(schema, "properties"), property)
		if (!is_of_every_object(property))
			schema_put_shared(arena, properties, property);
	put_field(arena, properties, "apiVersion", "string");
	put_field(arena, properties, "kind", "string");
	metadata = schema_put_map(
		arena, put_field(arena, properties, "metadata", "object"),
		"properties");
	put_field(arena, metadata, "name", "string");
	put_field(arena, metadata, "generateName", "string");
	return root;
}

static bool is_embedded(const struct node *schema)
{
	return node_is_true(node_get(schema, "x-kubernetes-embedded-resource"));
}

/* True if the schema contains an embedded object. */
static bool holds_embedded(const struct node *schema)
{
	if (!node_is_map(schema))
		return false;
	FOR_EACH_CHILD(node_get(schema, "properties"), property)
		if (holds_embedded(property))
			return true;
	return is_embedded(schema) ||
	       holds_embedded(node_get(schema, "items")) ||
	       holds_embedded(node_get(schema, "additionalProperties"));
}

static void put_changed(struct arena *arena, struct node *map,
			const struct node *child)
{
	const struct node *made = with_embedded(arena, child);
	struct node copy = *made;

	copy.key = child->key;
	copy.key_len = child->key_len;
	schema_put_shared(arena, map, &copy);
}

static const struct node *with_embedded(struct arena *arena,
					const struct node *schema)
{
	struct node *made = edit_map(arena), *properties;

	if (!holds_embedded(schema))
		return schema;
	FOR_EACH_CHILD(schema, child) {
		if (!text_eq(child->key, "properties")) {
			put_changed(arena, made, child);
			continue;
		}
		properties = schema_put_map(arena, made, child->key);
		FOR_EACH_CHILD(child, property)
			put_changed(arena, properties, property);
	}
	return is_embedded(schema) ? root_schema(arena, made) : made;
}

const struct node *definition_schema(struct arena *arena,
				     const struct node *schema)
{
	return root_schema(arena, with_embedded(arena, schema));
}

/* --- types ---------------------------------------------------------------- */

static const struct cel_type *text_type(const struct node *schema)
{
	static const struct {
		const char *format;
		enum cel_kind kind;
	} formats[] = {
		{"byte", CEL_BYTES},
		{"duration", CEL_DURATION},
		{"date", CEL_TIMESTAMP},
		{"date-time", CEL_TIMESTAMP},
	};
	const struct node *format = node_get(schema, "format");

	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		if (node_eq(format, formats[i].format))
			return cel_type_of_kind(formats[i].kind);
	return cel_type_of_kind(CEL_STRING);
}

static const struct cel_type *scalar_type(const struct node *schema)
{
	static const struct {
		const char *type;
		enum cel_kind kind;
	} types[] = {
		{"boolean", CEL_BOOL},
		{"number", CEL_DOUBLE},
		{"integer", CEL_INT},
	};
	const struct node *type = node_get(schema, "type");

	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (node_eq(type, types[i].type))
			return cel_type_of_kind(types[i].kind);
	return node_eq(type, "string") ? text_type(schema) : NULL;
}

/* True for a keyword, which is a valid name both as written and escaped. */
static bool is_keyword(const struct node *property, const char *escaped)
{
	return text_starts(escaped, "__") &&
	       !strncmp(escaped + 2, property->key, property->key_len) &&
	       text_eq(escaped + 2 + property->key_len, "__");
}

/* Returns the type of an object. Fields whose values have no type are left
 * out. */
static const struct cel_type *
object_type(struct arena *arena, const struct node *schema, const char *name)
{
	const struct node *properties = node_get(schema, "properties");
	struct cel_type *type = ARENA_NEW(arena, struct cel_type);
	struct cel_field *field = ARENA_ARRAY(arena, struct cel_field,
					      2 * node_count(properties) + 1);

	*type = (struct cel_type){
		.kind = CEL_OBJECT, .name = name, .fields = field};
	FOR_EACH_CHILD(properties, property) {
		struct cel_value key = cel_schema_key(arena, schema, property);
		const char *escaped =
			arena_strndup(arena, key.text.data, key.text.len);
		const struct cel_type *value = definition_type(
			arena, property,
			arena_printf(arena, "%s.%s", name, escaped));

		if (!value)
			continue;
		*field++ = (struct cel_field){escaped, value};
		if (is_keyword(property, escaped))
			*field++ = (struct cel_field){property->key, value};
	}
	return type;
}

/* Returns the type of a map whose values have the schema `more`; NULL if `more`
 * is NULL or its values have no type. */
static const struct cel_type *
map_type(struct arena *arena, const struct node *more, const char *name)
{
	const struct cel_type *value = definition_type(
		arena, more, arena_printf(arena, "%s.@elem", name));

	return value ? cel_type_with(arena, CEL_MAP,
				     cel_type_of_kind(CEL_STRING), value)
		     : NULL;
}

static const struct cel_type *
list_type(struct arena *arena, const struct node *items, const char *name)
{
	const struct cel_type *item = definition_type(
		arena, items, arena_printf(arena, "%s.@idx", name));

	return item ? cel_type_with(arena, CEL_LIST, item, NULL) : NULL;
}

const struct cel_type *definition_type(struct arena *arena,
				       const struct node *schema,
				       const char *name)
{
	const struct node *type = node_get(schema, "type");
	const struct node *more = node_get(schema, "additionalProperties");

	if (node_is_true(node_get(schema, "x-kubernetes-int-or-string")))
		return cel_type_of_kind(CEL_DYN);
	if (node_eq(type, "array"))
		return list_type(arena, node_get(schema, "items"), name);
	if (!node_eq(type, "object"))
		return scalar_type(schema);
	if (node_is_map(more))
		return map_type(arena, more, name);
	return object_type(arena, schema, name);
}
