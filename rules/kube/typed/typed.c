/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds the tree of an object as the API server passes it to policies, by the
 * types or the schema of its kind, and finds kinds and fields in the tables of
 * native types.
 */
#include "native.h"

#include <ctype.h>
#include <string.h>

#include "base/text.h"
#include "doc/load.h"

/*
 * Applies the structural schema of a custom resource: removes unknown fields
 * and sets defaults (k8s.io/apiextensions-apiserver
 * pkg/apiserver/schema/pruning, defaulting). Without a schema, the author's
 * tree is copied.
 */

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

static struct node *custom_object(struct arena *arena, const struct node *root,
				  const struct node *schema)
{
	return schema ? convert(arena, root, schema, true)
		      : typed_copy(arena, root);
}

/* --- fragments ------------------------------------------------------------ */

static void canonical(struct arena *arena, unsigned type, struct node *map);

static void canonical_value(struct arena *arena,
			    const struct native_field *field, struct node *node)
{
	struct native_field one = {NULL, field->form, 0, field->type, 0, 0, 0};
	bool many = node->type == NODE_SEQ || node->type == NODE_MAP;

	if (many && field->flags & (NATIVE_LIST | NATIVE_MAP)) {
		for (node = node->first; node; node = node->next)
			canonical_value(arena, &one, node);
	} else if (many && field->form == 'T') {
		canonical(arena, field->type, node);
	} else if (!many && field->form == 'q') {
		const struct node *new = native_quantity(arena, node);

		node->type = new->type;
		node->str = new->str;
		node->len = new->len;
	}
}

static void canonical(struct arena *arena, unsigned type, struct node *map)
{
	struct node *child = map->type == NODE_MAP ? map->first : NULL;

	for (; child; child = child->next) {
		const struct native_field *field = native_find(
			&native_types[type], child->key, child->key_len);

		if (field)
			canonical_value(arena, field, child);
	}
}

/* Copies a part of an object and makes its quantities canonical. Nothing is
 * filled in or omitted. */
static struct node *native_fragment(struct arena *arena,
				    const struct native_kind *kind,
				    const struct node *from)
{
	struct node *root = typed_copy(arena, from);

	canonical(arena, kind->type, root);
	return root;
}

/* --- nodes ---------------------------------------------------------------- */

struct node *typed_new(struct arena *arena, enum node_type type,
		       const struct node *at, const struct node *parent)
{
	struct node *node = node_new(arena, type);

	if (!at)
		at = parent;
	if (!at)
		return node;
	node->start = at->start;
	node->end = at->end;
	node->key_start = at->key_start;
	node->key_end = at->key_end;
	return node;
}

struct node *typed_text(struct arena *arena, const char *text,
			const struct node *parent)
{
	struct node *node = typed_new(arena, NODE_STRING, NULL, parent);

	node->str = text;
	node->len = (uint32_t)strlen(text);
	return node;
}

struct node *typed_find(const struct node *map, const char *key, size_t len)
{
	struct node *child = map && map->type == NODE_MAP ? map->first : NULL;

	while (child && (child->key_len != len || memcmp(child->key, key, len)))
		child = child->next;
	return child;
}

static void append(struct node *map, struct node *value)
{
	if (node_is_perhaps(value))
		map->flags |= NODE_OPEN;
	node_append(map, value);
}

void typed_put(struct node *map, const char *key, struct node *value)
{
	value->key = key;
	value->key_len = (uint32_t)strlen(key);
	append(map, value);
}

void typed_keep(struct node *map, const struct node *from, struct node *value)
{
	value->key = from->key;
	value->key_len = from->key_len;
	append(map, value);
}

/* True if a word of `command` or `args` contains a placeholder. Rules can use
 * the known part of the word, but an expression needs the whole text. */
static bool holds_placeholder(const struct node *node)
{
	const struct node *list = node->parent;

	return node->type == NODE_STRING && list &&
	       !(node->flags & NODE_BLOCK) &&
	       (text_eq(list->key, "args") || text_eq(list->key, "command")) &&
	       placeholder_in(node->str, node->len);
}

struct node *typed_copy(struct arena *arena, const struct node *node)
{
	struct node *copy = typed_new(arena, node->type, node, NULL);

	copy->flags = node->flags;
	copy->str = node->str;
	if (node->type != NODE_MAP && node->type != NODE_SEQ) {
		copy->len = node->len;
		if (holds_placeholder(node))
			copy->flags |= NODE_UNKNOWN;
		return copy;
	}
	FOR_EACH_CHILD(node, child)
		typed_keep(copy, child, typed_copy(arena, child));
	return copy;
}

/* False for groups with a domain that is not k8s.io. */
static bool may_be_native(const char *group)
{
	return !strchr(group, '.') || text_ends(group, ".k8s.io");
}

const struct native_kind *native_kind(const char *group, const char *version,
				      const char *kind)
{
	const struct native_kind *k = native_kinds;

	if (!kind || !may_be_native(group))
		return NULL;
	for (; k->kind; k++)
		if (*k->kind == *kind && text_eq(k->kind, kind) &&
		    text_eq(k->group, group) && text_eq(k->version, version))
			return k;
	return NULL;
}

/* Returns the version whose types the object has. KubeRay serves v1alpha1 with
 * fields of v1 only, and reads the objects as v1 (kuberay feeaf72f config/crd).
 */
static const char *typed_version(const struct object *object)
{
	return text_eq(object->api_version, "ray.io/v1alpha1")
		       ? "v1"
		       : object->version;
}

const struct operator_kind *operator_kind(const struct object *object)
{
	const struct operator_kind *k = operator_kinds;
	const char *version = typed_version(object);

	for (; object->kind && k->kind; k++)
		if (*k->kind == *object->kind &&
		    object_is(object, k->group, k->kind) &&
		    text_eq(version, k->version))
			return k;
	return NULL;
}

static const struct native_field *find_field(const struct native_type *type,
					     const char *name, size_t len,
					     uint16_t tag)
{
	const unsigned char *slots = native_slots + type->slot;

	for (unsigned i = tag, n; (n = slots[i & type->slot_mask]); i++) {
		const struct native_field *field =
			native_fields + type->field + n - 1;

		if (field->tag == tag && field->len == len &&
		    text_same_bytes(field->name, name, len))
			return field;
	}
	return NULL;
}

const struct native_field *native_find(const struct native_type *type,
				       const char *name, size_t len)
{
	return find_field(type, name, len, node_tag(name, len));
}

const struct native_field *native_field_of(const struct native_type *type,
					   const struct node *child)
{
	return find_field(type, child->key, child->key_len, child->tag);
}

bool typed_serves(const char *group, const char *version, const char *plural)
{
	const struct native_kind *k = native_kinds;

	for (; k->kind; k++)
		if (text_eq(k->group, group) && text_eq(k->version, version) &&
		    text_eq(k->resource, plural))
			return true;
	return false;
}

bool typed_group_is_native(const char *group)
{
	const struct native_kind *k = native_kinds;

	if (!may_be_native(group))
		return false;
	for (; k->kind; k++)
		if (text_eq(k->group, group))
			return true;
	return text_eq(group, "extensions") ||
	       text_eq(group, "events.k8s.io") ||
	       text_eq(group, "admissionregistration.k8s.io") ||
	       text_eq(group, "apiextensions.k8s.io") ||
	       text_eq(group, "apiregistration.k8s.io");
}

/* Returns the plural as controller-gen and meta.UnsafeGuessKindToResource()
 * form it. */
static const char *usual_plural(struct arena *arena, const char *kind)
{
	char *name = arena_printf(arena, "%ses", kind);
	size_t n = strlen(kind);

	for (char *c = name; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	if (n && name[n - 1] == 'y')
		memcpy(name + n - 1, "ies", 4);
	else if (!n || (!strchr("sx", name[n - 1]) &&
			!(n > 1 && name[n - 1] == 'h' && name[n - 2] == 'c')))
		memcpy(name + n, "s", 2);
	return name;
}

struct typed_resource typed_resource(struct arena *arena, const char *group,
				     const char *version, const char *kind)
{
	const struct native_kind *k = native_kind(group, version, kind);

	if (k)
		return (struct typed_resource){k->resource, k->cluster_scoped,
					       true};
	return (struct typed_resource){usual_plural(arena, kind), false, false};
}

/* Adds the namespace of the request if the author set none; its value is
 * unknown if that namespace is unknown. */
static void set_namespace(struct arena *arena, const struct object *object,
			  struct node *root)
{
	struct node *metadata = typed_find(root, "metadata", 8);
	struct node *namespace;

	if (!metadata || metadata->type != NODE_MAP || object->cluster_scoped ||
	    object->fragment)
		return;
	if (node_get(metadata, "namespace"))
		return;
	namespace = typed_text(arena, text_or_empty(object->namespace), root);
	if (!object->namespace)
	namespace->flags |= NODE_UNKNOWN;
	typed_put(metadata, "namespace", namespace);
}

static struct node *native_object(struct arena *arena,
				  const struct object *object)
{
	const struct native_kind *k =
		native_kind(object->group, object->version, object->kind);

	if (!k)
		return NULL;
	if (!object->fragment)
		return native_root(arena, k, object->root);
	return native_fragment(arena, k, object->root);
}

struct node *typed_object(struct arena *arena, const struct object *object,
			  const struct node *schema)
{
	struct node *root;

	if (typed_group_is_native(object->group))
		root = native_object(arena, object);
	else if (object->fragment)
		root = typed_copy(arena, object->root);
	else
		root = custom_object(arena, object->root, schema);
	if (!root)
		return NULL;
	set_namespace(arena, object, root);
	if (!object->fragment)
		native_set_defaults(arena, native_every, root);
	return root;
}

/* Drops values that the author did not set and that may be absent. */
static void drop_perhaps(struct node *map, const struct node *from)
{
	struct node *next;

	if (map->type != NODE_MAP && map->type != NODE_SEQ)
		return;
	if (map->type == NODE_MAP)
		map->flags &= (uint8_t)~NODE_OPEN;
	for (struct node *child = map->first; child; child = next) {
		const struct node *own =
			child->key ? node_getn(from, child->key, child->key_len)
				   : node_at(from, child->index);

		next = child->next;
		if (!own && node_is_perhaps(child)) {
			node_unlink(map, child);
			continue;
		}
		if (node_is_perhaps(child))
			map->flags |= NODE_OPEN;
		drop_perhaps(child, own);
	}
}

const struct node *typed_as_sent(struct arena *arena,
				 const struct object *object)
{
	struct node *root = NULL;

	if (typed_group_is_native(object->group))
		root = typed_object(arena, object, NULL);
	if (!root)
		return object->root;
	drop_perhaps(root, object->root);
	return root;
}

/* Returns the field whose value was copied into this one, such as `max` of a
 * LimitRange for `default`. */
static const struct node *copied_from(const struct node *map,
				      const struct node *node)
{
	FOR_EACH_CHILD(map, child)
		if (child->start == node->start && child->end == node->end &&
		    child->key_start == node->key_start)
			return child;
	return NULL;
}

const struct node *typed_origin(const struct node *node,
				const struct node *typed,
				const struct node *origin)
{
	const struct node *parent, *child;

	if (node == typed)
		return origin;
	if (!node || !node->parent)
		return NULL;
	parent = typed_origin(node->parent, typed, origin);
	if (!parent)
		return NULL;
	child = node->key ? node_getn(parent, node->key, node->key_len)
			  : node_at(parent, node->index);
	if (!child)
		child = copied_from(parent, node);
	return child ? child : parent;
}
