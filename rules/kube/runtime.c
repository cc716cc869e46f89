/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/runtime.h"

#include <string.h>

#include "base/text.h"

/* Kinds that have one of cluster scope of the same name, and those that use
 * them. */
static const struct {
	const char *kind, *user;
} kinds[] = {
	{"TrainingRuntime", "TrainJob"},
	{"ServingRuntime", "InferenceService"},
};

bool runtimes_may_be_in(const char *text, size_t len)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (text_find(text, len, kinds[i].kind) &&
		    text_find(text, len, kinds[i].user))
			return true;
	return false;
}

static bool is_runtime(const char *kind)
{
	if (text_starts(kind, "Cluster"))
		kind += strlen("Cluster");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (text_eq(kind, kinds[i].kind))
			return true;
	return false;
}

struct runtime *runtimes_add(struct runtime *list, struct arena *arena,
			     const struct doc *doc)
{
	const struct node *metadata = node_get(doc->root, "metadata");
	struct runtime *one;

	if (!is_runtime(node_str(node_get(doc->root, "kind"))) ||
	    !node_str(node_get(metadata, "name")))
		return list;
	one = ARENA_NEW(arena, struct runtime);
	one->kind = node_str(node_get(doc->root, "kind"));
	one->name = node_str(node_get(metadata, "name"));
	one->namespace = node_str(node_get(metadata, "namespace"));
	one->api_version = node_str(node_get(doc->root, "apiVersion"));
	one->root = doc->root;
	one->document = (unsigned)doc->number;
	one->next = list;
	return one;
}

const struct runtime *runtime_around(const struct runtime *list,
				     const struct node *node)
{
	while (list && node && node->parent)
		node = node->parent;
	while (list && list->root != node)
		list = list->next;
	return list;
}

/* The object's group in front of the slash of the runtime's apiVersion. Without
 * a namespace an object goes where the command says. */
static bool is_near(const struct runtime *one, const struct object *object)
{
	size_t len = strlen(object->group);

	if (!text_starts(one->api_version, object->group) ||
	    one->api_version[len] != '/')
		return false;
	return text_starts(one->kind, "Cluster") || !one->namespace ||
	       !object->namespace || text_eq(one->namespace, object->namespace);
}

const struct runtime *runtime_find(const struct runtime *list,
				   const struct object *object,
				   const char *kind, const char *name)
{
	for (; list; list = list->next)
		if (text_eq(list->kind, kind) && text_eq(list->name, name) &&
		    is_near(list, object))
			return list;
	return NULL;
}
