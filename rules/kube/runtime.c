/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/runtime.h"

#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "rules/kube/kinds.h"

/* Kinds of runtimes, with or without `Cluster` before them; a part of their
 * group, and a part of the kinds of the objects that refer to them. */
static const struct {
	const char *kind, *group, *user;
} kinds[] = {
	{"TrainingRuntime", "kubeflow.org", "TrainJob"},
	{"ServingRuntime", "serving.k", "InferenceService"},
	{"WorkflowTemplate", "argoproj.io", "Workflow"},
	{"EngineRuntimeProfile", "workloads.x-k8s.io", "RoleBasedGroup"},
	{"NIMCache", "apps.nvidia.com", "NIM"},
	{"Task", "tekton.dev", "Run"},
	{"Pipeline", "tekton.dev", "PipelineRun"},
};

enum { KINDS = ARRAY_SIZE(kinds) };

/* The kind is searched first: capital letters are rare in a manifest. */
bool runtimes_may_be_in(const char *text, size_t len)
{
	for (size_t i = 0; i < KINDS; i++)
		if (text_find(text, len, kinds[i].kind) &&
		    text_find(text, len, kinds[i].group))
			return true;
	return false;
}

bool runtimes_may_be_used_in(const char *text, size_t len)
{
	for (size_t i = 0; i < KINDS; i++)
		if (text_find(text, len, kinds[i].kind) &&
		    text_find(text, len, kinds[i].group) &&
		    text_find(text, len, kinds[i].user))
			return true;
	return false;
}

static bool is_cluster_scoped(const char *kind)
{
	return text_starts(kind, "Cluster");
}

static bool is_runtime(const char *api_version, const char *kind)
{
	if (is_cluster_scoped(kind))
		kind += strlen("Cluster");
	for (size_t i = 0; i < KINDS; i++)
		if (text_eq(kind, kinds[i].kind) &&
		    text_contains(api_version, kinds[i].group))
			return true;
	return false;
}

static struct runtime **list_for(struct runtime_table *table, const char *name)
{
	return &table->lists[text_hash(name, strlen(name), 0) %
			     ARRAY_SIZE(table->lists)];
}

struct runtime *runtimes_named(const struct runtime_table *table,
			       const char *name)
{
	return *list_for((struct runtime_table *)(uintptr_t)table, name);
}

static void add(struct runtime_table *table, struct arena *arena,
		const struct runtime *common, const struct node *root)
{
	const struct node *metadata = node_get(root, "metadata");
	const char *name = node_str(node_get(metadata, "name"));
	struct runtime *one, **list;

	FOR_EACH_CHILD(node_get(root, "items"), item)
		add(table, arena, common, item);
	if (!is_runtime(node_str(node_get(root, "apiVersion")),
			node_str(node_get(root, "kind"))) ||
	    !name)
		return;
	list = list_for(table, name);
	one = ARENA_NEW(arena, struct runtime);
	*one = *common;
	one->kind = node_str(node_get(root, "kind"));
	one->name = name;
	one->namespace = node_str(node_get(metadata, "namespace"));
	one->api_version = node_str(node_get(root, "apiVersion"));
	one->root = root;
	one->next = *list;
	*list = one;
}

void runtimes_add(struct runtime_table *table, struct arena *arena,
		  const struct doc *doc, uint32_t file)
{
	const struct runtime common = {.document = (unsigned)doc->number,
				       .file = file,
				       .source = doc->source};

	add(table, arena, &common, doc->root);
}

static bool is_inside(const struct node *node, const struct node *root)
{
	while (node && node != root)
		node = node->parent;
	return node != NULL;
}

/* True if the runtime is in the object's group and may be in its namespace. An
 * object without a namespace is created in the namespace of the command. */
static bool is_near(const struct runtime *one, const struct object *object)
{
	size_t len = strlen(object->group);

	if (!text_starts(one->api_version, object->group) ||
	    one->api_version[len] != '/')
		return false;
	return is_cluster_scoped(one->kind) || !one->namespace ||
	       !object->namespace || text_eq(one->namespace, object->namespace);
}

bool runtime_is(const struct runtime *one, const struct object *object,
		const char *kind, const char *name)
{
	return text_eq(one->kind, kind) && text_eq(one->name, name) &&
	       is_near(one, object);
}

const struct runtime *runtime_find(struct pod_builder *builder,
				   const char *kind, const struct node *ref)
{
	const struct runtime_finder *finder = &builder->config->runtimes;
	struct object *object = builder->object;
	const struct runtime *found;
	struct runtime_use *use;

	if (!finder->find || !node_str(ref) || node_is_unknown(ref))
		return NULL;
	found = finder->find(finder->context, object, kind, ref);
	if (!found)
		return NULL;
	if (found->ref)
		object->runtime = found->ref;
	use = ARENA_NEW(builder->arena, struct runtime_use);
	*use = (struct runtime_use){found, object->uses};
	object->uses = use;
	return found;
}

const struct runtime *object_runtime_around(const struct object *object,
					    const struct node *node)
{
	for (const struct runtime_use *use = object->uses; use; use = use->next)
		if (is_inside(node, use->runtime->root))
			return use->runtime;
	return NULL;
}
