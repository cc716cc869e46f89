/* SPDX-License-Identifier: Apache-2.0 */
/* Finds fields and kinds that the API server does not know. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "kube/typed.h"
#include "native.h"
#include "rules/kube/kinds.h"

/* Finds fields that the Go types, or the schemas of operators' kinds, do not
 * have. */

enum { MOST_FIELDS = 128 };

struct unknown_level {
	const struct native_type *type;
	const struct unknown_level *outer;
};

/* True for the annotations and labels that only the metadata of the object may
 * set: at the root, where they lack it, and those that KServe and OpenShift AI
 * read there (kserve v0.17 pkg/utils GetDeploymentMode). */
static bool is_metadata(const struct unknown_level *level,
			const struct node *at)
{
	if (!text_lists("annotations labels", at->key))
		return false;
	if (!level->outer)
		return true;
	FOR_EACH_CHILD(at, child)
		if (text_starts(child->key, "serving.kserve.io/") ||
		    text_starts(child->key, "opendatahub.io/"))
			return true;
	return false;
}

/* Sets field->owner to the type of a field that has such a field: of one that
 * the map contains, or else of the first one. */
static void find_inner_owner(const struct native_type *type,
			     struct unknown_field *field)
{
	const struct node *at = field->at;

	for (unsigned i = 0; i < type->nfields; i++) {
		const struct native_field *inner =
			native_fields + type->field + i;
		const char *name;

		if (inner->form != 'T' ||
		    !native_find(native_types + inner->type, at->key,
				 at->key_len))
			continue;
		name = native_types[inner->type].name;
		if (!node_is_unset(node_get(at->parent, inner->name))) {
			field->owner = name;
			field->unclear = false;
			return;
		}
		field->unclear = field->owner && field->owner != name;
		if (!field->owner)
			field->owner = name;
	}
}

/* True if a map around the field's own map already has such a field. */
static bool is_taken(const struct node *at)
{
	const struct node *map = at->parent;

	while ((map = map->parent))
		if (node_is_map(map) && node_getn(map, at->key, at->key_len))
			return true;
	return false;
}

/* Sets field->owner to the enclosing type that has the field, or else to the
 * type of one of its fields. */
static void find_owner(const struct unknown_level *level,
		       struct unknown_field *field)
{
	const struct native_type *type = level->type;
	const struct node *at = field->at;

	if (is_metadata(level, at)) {
		field->owner = "metadata";
		return;
	}
	while ((level = level->outer))
		if (native_find(level->type, at->key, at->key_len)) {
			field->owner = level->type->name;
			field->unclear = is_taken(at);
			return;
		}
	find_inner_owner(type, field);
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
	struct unknown_field field = {.at = at, .type = name};

	for (unsigned i = 0; i < n; i++)
		names[i] = native_fields[type->field + i].name;
	/* The schema of a custom kind may preserve these fields, but they are
	 * not used. */
	if (level->type == &native_types[native_template] && !level->outer &&
	    text_lists("apiVersion kind", at->key))
		return;
	find_owner(level, &field);
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

/*
 * Kinds that no API server serves. All kinds of native versions are known, so
 * that an unknown one is reported if it exists in another group or has a
 * similar name. The group of an operator may have kinds that are not in the
 * table, but none that differs from a known kind only in case, because both
 * would have the same plural.
 *
 * OpenShift's `oc process` reads templates of the version `v1` without a group
 * (openshift/api template/v1 legacy.go, DeprecatedInstallWithoutGroup).
 */

/* True if the table has all kinds of the object's group and version. */
static bool is_native_version(const struct object *object)
{
	const struct native_kind *k = native_kinds;

	for (; k->kind; k++)
		if (text_eq(k->group, object->group) &&
		    text_eq(k->version, object->version))
			return true;
	return false;
}

static const struct native_kind *nearest_kind(const struct object *object)
{
	enum { MOST = 64 };
	const struct native_kind *of[MOST];
	const char *names[MOST] = {NULL};
	const char *near;
	size_t n = 0;

	for (const struct native_kind *k = native_kinds; k->kind; k++)
		if (n < MOST && text_eq(k->group, object->group) &&
		    text_eq(k->version, object->version)) {
			of[n] = k;
			names[n++] = k->kind;
		}
	near = text_nearest(object->kind, names, n);
	for (size_t i = 0; near && i < n; i++)
		if (names[i] == near)
			return of[i];
	return NULL;
}

static const struct native_kind *native_elsewhere(const char *kind)
{
	const struct native_kind *k = native_kinds;

	while (k->kind && strcasecmp(k->kind, kind))
		k++;
	return k->kind ? k : NULL;
}

static const struct kind *custom_elsewhere(const char *kind)
{
	const struct kind *row = kind_table;

	while (row->kind && strcasecmp(row->kind, kind))
		row++;
	return row->kind ? row : NULL;
}

static enum kind_fault native_fault(const struct object *object,
				    struct kind_meant *meant)
{
	const struct native_kind *near = nearest_kind(object);
	const struct native_kind *k = native_elsewhere(object->kind);
	const struct kind *row = custom_elsewhere(object->kind);

	if (near && ((!k && !row) || !strcasecmp(near->kind, object->kind)))
		k = near;
	if (k)
		*meant = (struct kind_meant){k->kind, k->group, k->version};
	else if (row)
		*meant = (struct kind_meant){row->kind, row->group, NULL};
	else
		return KIND_NO_FAULT;
	return k && k == near ? KIND_MISSPELLED : KIND_ELSEWHERE;
}

static enum kind_fault custom_fault(const struct object *object,
				    struct kind_meant *meant)
{
	for (const struct kind *row = kind_table; row->kind; row++)
		if (text_eq(row->group, object->group) &&
		    !strcasecmp(row->kind, object->kind)) {
			*meant = (struct kind_meant){row->kind, row->group,
						     NULL};
			return strcmp(row->kind, object->kind) ? KIND_MISSPELLED
							       : KIND_NO_FAULT;
		}
	return KIND_NO_FAULT;
}

static bool is_openshift(const struct object *object)
{
	return text_eq(object->api_version, "v1") &&
	       text_eq(object->kind, "Template") &&
	       node_is_seq(node_get(object->root, "objects"));
}

enum kind_fault kind_fault(const struct object *object,
			   struct kind_meant *meant)
{
	if (!object->kind || !object->version)
		return KIND_NO_FAULT;
	if (!is_native_version(object))
		return custom_fault(object, meant);
	/* Lists, and options of requests, are kinds that the table lacks
	 * because their objects are never stored. */
	if (native_kind(object->group, object->version, object->kind) ||
	    text_ends(object->kind, "List") ||
	    text_ends(object->kind, "Options") || is_openshift(object) ||
	    object_kind_has(object, ~0u))
		return KIND_NO_FAULT;
	return native_fault(object, meant);
}
