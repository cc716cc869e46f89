/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds the variables `request` and `namespaceObject` with their known fields
 * (apiserver pkg/admission/plugin/cel/condition.go CreateAdmissionRequest,
 * CreateNamespaceObject).
 */
#include "admission_policy_internal.h"
#include "base/array.h"
#include "base/text.h"
#include "doc/edit.h"
#include "kube/scheduling/selector.h"

/* Adds a value to a map and returns the value. */
static struct node *put_field(struct arena *arena, struct node *map,
			      const char *key, struct node *value)
{
	edit_member(arena, map, key, value);
	return value;
}

static void put_unknown(struct arena *arena, struct node *map, const char *key)
{
	put_field(arena, map, key, edit_string(arena, ""))->flags |=
		NODE_UNKNOWN;
}

static void put_type(struct admission_case *a, struct node *map,
		     const char *key, const char *name, const char *value)
{
	struct node *type = put_field(a->arena, map, key, edit_map(a->arena));

	edit_member_string(a->arena, type, "group", a->object->group);
	edit_member_string(a->arena, type, "version", a->object->version);
	edit_member_string(a->arena, type, name, value);
}

static void put_user(struct admission_case *a, struct node *map)
{
	struct node *user, *groups;

	if (!a->request->user) {
		put_unknown(a->arena, map, "userInfo");
		return;
	}
	user = put_field(a->arena, map, "userInfo", edit_map(a->arena));
	edit_member_string(a->arena, user, "username", a->request->user);
	groups = put_field(a->arena, user, "groups", edit_seq(a->arena));
	for (const char *const *g = a->request->groups; g && *g; g++)
		edit_item(groups, edit_string(a->arena, *g));
	put_unknown(a->arena, user, "extra");
	put_unknown(a->arena, user, "uid");
}

const struct node *admission_request_node(struct admission_case *a)
{
	const struct object *o = a->object;
	struct node *map;

	if (a->request->review)
		return a->request->review;
	if (a->request_node)
		return a->request_node;
	map = edit_map(a->arena);
	put_type(a, map, "kind", "kind", o->kind);
	put_type(a, map, "resource", "resource", a->plural);
	put_type(a, map, "requestKind", "kind", o->kind);
	put_type(a, map, "requestResource", "resource", a->plural);
	if (o->name)
		edit_member_string(a->arena, map, "name", o->name);
	else
		put_unknown(a->arena, map, "name");
	if (object_is(o, "", "Namespace") && o->name)
		edit_member_string(a->arena, map, "namespace", o->name);
	else if (!a->cluster_scoped && o->namespace)
		edit_member_string(a->arena, map, "namespace", o->namespace);
	else if (!a->cluster_scoped)
		put_unknown(a->arena, map, "namespace");
	edit_member_string(a->arena, map, "operation", "CREATE");
	put_user(a, map);
	put_unknown(a->arena, map, "dryRun");
	put_unknown(a->arena, map, "options");
	a->request_node = map;
	return map;
}

/* --- the namespace -------------------------------------------------------- */

static const struct input_object *
namespace_in(const struct admission_policies *set, const char *name)
{
	for (size_t i = 0; set && i < set->ninputs; i++) {
		const struct input_object *input = &set->inputs[i];

		if (input_is(input, "", "Namespace") &&
		    text_eq(input->object->name, name))
			return input;
	}
	return NULL;
}

static const struct input_object *find_namespace(const struct admission_case *a)
{
	const char *name = a->object->namespace;
	const struct input_object *input =
		namespace_in(a->request->namespaces, name);

	return input ? input : namespace_in(a->set, name);
}

void admission_find_namespace(struct admission_case *a)
{
	const struct node *labels = NULL;
	const struct input_object *input;

	if (a->cluster_scoped || !a->object->namespace)
		return;
	input = find_namespace(a);
	if (input)
		labels = input->object->labels;
	else if (a->request->cluster)
		labels = cluster_namespace(a->request->cluster,
					   a->object->namespace, a->arena);
	a->labels_known = input || labels;
	a->labels =
		labels_with_namespace(a->arena, labels, a->object->namespace);
}

const struct node *admission_namespace_node(struct admission_case *a)
{
	static const char *const keys[] = {"spec", "status"};
	const struct input_object *input;
	struct node *map, *metadata;

	if (a->cluster_scoped || a->namespace_node)
		return a->namespace_node;
	map = edit_map(a->arena);
	a->namespace_node = map;
	if (!a->object->namespace) {
		map->flags |= NODE_UNKNOWN;
		return map;
	}
	input = find_namespace(a);
	if (input && input->typed) {
		a->namespace_node = input->typed;
		return input->typed;
	}
	metadata = put_field(a->arena, map, "metadata", edit_map(a->arena));
	edit_member_string(a->arena, metadata, "name", a->object->namespace);
	if (a->labels_known)
		put_field(a->arena, metadata, "labels",
			  edit_copy(a->arena, a->labels));
	else
		put_unknown(a->arena, metadata, "labels");
	put_unknown(a->arena, metadata, "annotations");
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		put_unknown(a->arena, map, keys[i]);
	return map;
}
