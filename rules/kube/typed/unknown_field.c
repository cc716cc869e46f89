/* SPDX-License-Identifier: Apache-2.0 */
/* Finds fields that the Go types, or the schemas of operators' kinds, do not
 * have. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "kube/typed.h"
#include "native.h"

enum { MOST_FIELDS = 128 };

struct unknown_level {
	const struct native_type *type;
	const struct unknown_level *outer;
};

/* Returns the name of the enclosing type, or of the type of one of its fields,
 * that has the field; or NULL. */
static const char *owner_of(const struct unknown_level *level,
			    const struct node *at)
{
	const struct native_type *type = level->type;

	if (!level->outer && text_lists("annotations labels", at->key))
		return "metadata";
	while ((level = level->outer))
		if (native_find(level->type, at->key, at->key_len))
			return level->type->name;
	for (unsigned i = 0; i < type->nfields; i++) {
		const struct native_field *field =
			native_fields + type->field + i;

		if (field->form == 'T' &&
		    native_find(native_types + field->type, at->key,
				at->key_len))
			return native_types[field->type].name;
	}
	return NULL;
}

/* True unless the key is empty or contains characters of a template
 * language. */
static bool is_literal(const struct node *at)
{
	return at->key_len && !strpbrk(at->key, "${}<>");
}

static bool has_anchor(const struct node *node)
{
	if (node->flags & NODE_ANCHORED)
		return true;
	FOR_EACH_CHILD(node, child)
		if (has_anchor(child))
			return true;
	return false;
}

/* True for a key at the top of the object that is not a misspelled or misplaced
 * field, and begins with "x-" or has a YAML anchor in its value: it only holds
 * anchors. */
static bool is_anchor_holder(const struct unknown_level *level,
			     const struct unknown_field *field)
{
	if (level->outer || field->near || field->owner)
		return false;
	return text_starts(field->at->key, "x-") || has_anchor(field->at);
}

/* True for the data that SOPS adds to an encrypted file and removes when it
 * decrypts the file, as Flux does before it applies the object. */
static bool is_sops(const struct unknown_walk *walk, const struct node *at)
{
	return at->parent == walk->object->root && text_eq(at->key, "sops") &&
	       node_get(at, "mac");
}

static void report(struct unknown_walk *walk, const struct unknown_level *level,
		   const struct node *at)
{
	const struct native_type *type = level->type;
	const char *names[MOST_FIELDS];
	char name[64];
	unsigned n = type->nfields < MOST_FIELDS ? type->nfields : MOST_FIELDS;
	struct unknown_field field = {at, name, owner_of(level, at), NULL};

	for (unsigned i = 0; i < n; i++)
		names[i] = native_fields[type->field + i].name;
	/* The schema of a custom kind may preserve these fields, but they are
	 * not used. */
	if (level->type == &native_types[native_template] && !level->outer &&
	    text_lists("apiVersion kind", at->key))
		return;
	field.near = text_nearest(at->key, names, n);
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(type->name, "."),
		 type->name);
	if (!is_anchor_holder(level, &field) && !is_sops(walk, at))
		walk->found(walk, &field);
}

static void visit_map(struct unknown_walk *walk, const struct node *map,
		      unsigned number, const struct unknown_level *outer);

static void visit_value(struct unknown_walk *walk, const struct node *value,
			const struct native_field *field,
			const struct unknown_level *level)
{
	unsigned many = field->flags & (NATIVE_LIST | NATIVE_MAP);

	/* A value of a wrong type has no fields to check. */
	if (!many)
		visit_map(walk, value, field->type, level);
	else if (many == NATIVE_LIST ? node_is_seq(value) : node_is_map(value))
		FOR_EACH_CHILD(value, item)
			visit_map(walk, item, field->type, level);
}

static void visit_map(struct unknown_walk *walk, const struct node *map,
		      unsigned number, const struct unknown_level *outer)
{
	const struct unknown_level level = {native_types + number, outer};

	if (!node_is_map(map))
		return;
	FOR_EACH_CHILD(map, child) {
		const struct native_field *field =
			native_find(level.type, child->key, child->key_len);

		if (!field && is_literal(child) && !node_is_unknown(child))
			report(walk, &level, child);
		if (field && field->form == 'T' &&
		    (outer || !text_eq(field->name, "status")))
			visit_value(walk, child, field, &level);
	}
}

bool typed_unknown_fields(struct unknown_walk *walk)
{
	const struct object *object = walk->object;
	const struct native_kind *kind;
	const struct operator_kind *custom;

	if (walk->pod) {
		visit_map(walk, walk->pod->template, native_template, NULL);
		return true;
	}
	kind = native_kind(object->group, object->version, object->kind);
	custom = kind || walk->defined ? NULL : operator_kind(object);
	walk->custom = custom;
	walk->loose = custom && custom->loose;
	if (kind)
		visit_map(walk, object->root, kind->type, NULL);
	else if (custom)
		visit_map(walk, object->root, custom->type, NULL);
	return kind;
}
