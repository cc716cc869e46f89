/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The variables `request` and `namespaceObject`, as far as they are known
 * (apiserver pkg/admission/plugin/cel/condition.go CreateAdmissionRequest,
 * CreateNamespaceObject).
 */
#include <string.h>

#include "admission_policy_internal.h"
#include "base/text.h"
#include "doc/build.h"

static struct node *put(struct arena *arena, struct node *map, const char *key,
			enum node_type type)
{
	struct node *node = node_new(arena, type);

	node->key = key;
	node->key_len = (uint32_t)strlen(key);
	node_append(map, node);
	return node;
}

static void put_text(struct arena *arena, struct node *map, const char *key,
		     const char *text)
{
	struct node *node = put(arena, map, key, NODE_STRING);

	node->str = text;
	node->len = (uint32_t)strlen(text);
}

static void put_unknown(struct arena *arena, struct node *map, const char *key)
{
	struct node *node = put(arena, map, key, NODE_STRING);

	node->str = "";
	node->flags |= NODE_UNKNOWN;
}

static void put_type(struct admission_case *a, struct node *map,
		     const char *key, const char *name, const char *value)
{
	struct node *type = put(a->arena, map, key, NODE_MAP);

	put_text(a->arena, type, "group", a->object->group);
	put_text(a->arena, type, "version", a->object->version);
	put_text(a->arena, type, name, value);
}

static void put_user(struct admission_case *a, struct node *map)
{
	struct node *user, *groups, *node;

	if (!a->request->user) {
		put_unknown(a->arena, map, "userInfo");
		return;
	}
	user = put(a->arena, map, "userInfo", NODE_MAP);
	put_text(a->arena, user, "username", a->request->user);
	groups = put(a->arena, user, "groups", NODE_SEQ);
	for (const char *const *g = a->request->groups; g && *g; g++) {
		node = node_new(a->arena, NODE_STRING);
		node->str = *g;
		node->len = (uint32_t)strlen(*g);
		node_append(groups, node);
	}
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
	map = node_new(a->arena, NODE_MAP);
	put_type(a, map, "kind", "kind", o->kind);
	put_type(a, map, "resource", "resource", a->plural);
	put_type(a, map, "requestKind", "kind", o->kind);
	put_type(a, map, "requestResource", "resource", a->plural);
	if (o->name)
		put_text(a->arena, map, "name", o->name);
	else
		put_unknown(a->arena, map, "name");
	if (object_is(o, "", "Namespace") && o->name)
		put_text(a->arena, map, "namespace", o->name);
	else if (!a->cluster_scoped && o->namespace)
		put_text(a->arena, map, "namespace", o->namespace);
	else if (!a->cluster_scoped)
		put_unknown(a->arena, map, "namespace");
	put_text(a->arena, map, "operation", "CREATE");
	put_user(a, map);
	put_unknown(a->arena, map, "dryRun");
	put_unknown(a->arena, map, "options");
	a->request_node = map;
	return map;
}

/* --- the namespace -------------------------------------------------------- */

static const struct given *namespace_in(const struct admission_policies *set,
					const char *name)
{
	for (size_t i = 0; set && i < set->ngiven; i++) {
		const struct given *given = &set->given[i];

		if (given_is(given, "", "Namespace") &&
		    text_eq(given->object->name, name))
			return given;
	}
	return NULL;
}

static const struct given *given_namespace(const struct admission_case *a)
{
	const char *name = a->object->namespace;
	const struct given *given = namespace_in(a->request->namespaces, name);

	return given ? given : namespace_in(a->set, name);
}

/* The server gives every namespace a label of its name. */
static const struct node *with_name(struct admission_case *a,
				    const struct node *labels)
{
	static const char key[] = "kubernetes.io/metadata.name";
	struct node *map = node_new(a->arena, NODE_MAP), *copy;
	uint32_t budget = UINT32_MAX;

	FOR_EACH_CHILD(labels, label) {
		copy = node_copy(a->arena, label, 0, &budget);
		copy->key = label->key;
		copy->key_len = label->key_len;
		node_append(map, copy);
	}
	if (!node_get(map, key))
		put_text(a->arena, map, key, a->object->namespace);
	return map;
}

void admission_find_namespace(struct admission_case *a)
{
	const struct node *labels = NULL;
	const struct given *given;

	if (a->cluster_scoped || !a->object->namespace)
		return;
	given = given_namespace(a);
	if (given)
		labels = given->object->labels;
	else if (a->request->cluster)
		labels = cluster_namespace(a->request->cluster,
					   a->object->namespace, a->arena);
	a->labels_known = given || labels;
	a->labels = with_name(a, labels);
}

const struct node *admission_namespace_node(struct admission_case *a)
{
	static const char *const keys[] = {"spec", "status"};
	const struct given *given;
	struct node *map, *metadata, *labels;
	uint32_t budget = UINT32_MAX;

	if (a->cluster_scoped || a->namespace_node)
		return a->namespace_node;
	map = node_new(a->arena, NODE_MAP);
	a->namespace_node = map;
	if (!a->object->namespace) {
		map->flags |= NODE_UNKNOWN;
		return map;
	}
	given = given_namespace(a);
	if (given && given->typed) {
		a->namespace_node = given->typed;
		return given->typed;
	}
	metadata = put(a->arena, map, "metadata", NODE_MAP);
	put_text(a->arena, metadata, "name", a->object->namespace);
	if (a->labels_known) {
		labels = node_copy(a->arena, a->labels, 0, &budget);
		labels->key = "labels";
		labels->key_len = 6;
		node_append(metadata, labels);
	} else {
		put_unknown(a->arena, metadata, "labels");
	}
	put_unknown(a->arena, metadata, "annotations");
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		put_unknown(a->arena, map, keys[i]);
	return map;
}
