/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Applies the structural schema of a custom resource: removes unknown fields
 * and sets defaults (k8s.io/apiextensions-apiserver
 * pkg/apiserver/schema/pruning, defaulting). Without a schema, the author's
 * tree is copied.
 */
#include "base/text.h"
#include "typed.h"

static struct node *convert(struct arena *arena, const struct node *from,
			    const struct node *schema, bool root);

static bool keeps_unknown(const struct node *schema)
{
	return node_is_true(
		node_get(schema, "x-kubernetes-preserve-unknown-fields"));
}

static bool is_of_every_object(const struct node *field)
{
	return text_eq(field->key, "metadata") ||
	       text_eq(field->key, "apiVersion") || text_eq(field->key, "kind");
}

/* True for a null that the API server removes, because the schema does not
 * allow null and no default replaces it: schema/defaulting/prunenulls.go. */
static bool is_stray_null(const struct node *value, const struct node *schema)
{
	return node_known(value, NODE_NULL) && node_is_map(schema) &&
	       !node_is_true(node_get(schema, "nullable")) &&
	       node_is_unset(node_get(schema, "default"));
}

static void convert_field(struct arena *arena, const struct node *field,
			  const struct node *schema, struct node *map)
{
	const struct node *properties = node_get(schema, "properties");
	const struct node *one =
		node_getn(properties, field->key, field->key_len);

	if (!one)
		one = node_get(schema, "additionalProperties");
	if (is_stray_null(field, one))
		return;
	if (node_is_map(one))
		typed_keep(map, field, convert(arena, field, one, false));
	else if (one || keeps_unknown(schema))
		typed_keep(map, field, typed_copy(arena, field));
}

static void set_defaults(struct arena *arena, const struct node *schema,
			 struct node *map)
{
	FOR_EACH_CHILD(node_get(schema, "properties"), property) {
		const struct node *value = node_get(property, "default");
		struct node *old =
			typed_find(map, property->key, property->key_len);
		bool replaces = old && node_known(old, NODE_NULL) &&
				!node_is_true(node_get(property, "nullable"));
		struct node *new;

		if (!value || (old && !replaces))
			continue;
		if (old)
			node_unlink(map, old);
		new = convert(arena, value, property, false);
		new->start = map->start;
		new->end = map->end;
		typed_keep(map, property, new);
	}
}

static struct node *convert_map(struct arena *arena, const struct node *from,
				const struct node *schema, bool root)
{
	bool object = root ||
		      node_is_true(node_get(schema,
					    "x-kubernetes-embedded-resource"));
	struct node *map = typed_new(arena, NODE_MAP, from, NULL);

	map->flags = from->flags;
	FOR_EACH_CHILD(from, field) {
		if (object && is_of_every_object(field))
			typed_keep(map, field, typed_copy(arena, field));
		else
			convert_field(arena, field, schema, map);
	}
	set_defaults(arena, schema, map);
	return map;
}

static struct node *convert(struct arena *arena, const struct node *from,
			    const struct node *schema, bool root)
{
	const struct node *items = node_get(schema, "items");
	struct node *list;

	if (node_is_map(from))
		return convert_map(arena, from, schema, root);
	if (!node_is_seq(from) || !items)
		return typed_copy(arena, from);
	list = typed_new(arena, NODE_SEQ, from, NULL);
	list->flags = from->flags;
	FOR_EACH_CHILD(from, item)
		node_append(list, convert(arena, item, items, false));
	return list;
}

struct node *custom_object(struct arena *arena, const struct node *root,
			   const struct node *schema)
{
	return schema ? convert(arena, root, schema, true)
		      : typed_copy(arena, root);
}
