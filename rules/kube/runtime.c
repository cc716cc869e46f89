/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/runtime.h"

#include <string.h>

#include "base/text.h"

static const char *const kinds[] = {"TrainingRuntime", "ClusterTrainingRuntime",
				    NULL};

bool runtimes_may_be_in(const char *text, size_t len)
{
	return memmem(text, len, "TrainingRuntime", 15) &&
	       memmem(text, len, "TrainJob", 8);
}

struct runtime *runtimes_add(struct runtime *list, struct arena *arena,
			     const struct doc *doc)
{
	const struct node *metadata = node_get(doc->root, "metadata");
	struct runtime *one;

	if (!text_any(node_str(node_get(doc->root, "kind")), kinds, text_eq) ||
	    !node_str(node_get(metadata, "name")))
		return list;
	one = ARENA_NEW(arena, struct runtime);
	one->kind = node_str(node_get(doc->root, "kind"));
	one->name = node_str(node_get(metadata, "name"));
	one->namespace = node_str(node_get(metadata, "namespace"));
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

/* Without a namespace an object goes where the command says. */
static bool is_near(const struct runtime *one, const char *namespace)
{
	return text_starts(one->kind, "Cluster") || !one->namespace ||
	       !namespace || !strcmp(one->namespace, namespace);
}

const struct runtime *runtime_find(const struct runtime *list, const char *kind,
				   const char *namespace, const char *name)
{
	for (; list; list = list->next)
		if (text_eq(list->kind, kind) && text_eq(list->name, name) &&
		    is_near(list, namespace))
			return list;
	return NULL;
}
