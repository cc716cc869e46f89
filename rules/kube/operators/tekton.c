/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tekton Pipelines: builds the pods of tasks. The steps of a task are
 * containers of one pod: they run one after another, but the pod holds the
 * requests of all of them until the last one ends.
 *
 * Source: tektoncd/pipeline v1.15.0 (70f7308): pkg/pod/pod.go, Build();
 * pkg/apis/pipeline/v1/merge.go; pkg/pod/script.go; pkg/internal/
 * computeresources/tasklevel.
 */
#include "rules/kube/operator.h"

#include <ctype.h>
#include <string.h>

#include "base/text.h"
#include "kube/runtime.h"

/* -- tasks and pipelines of other objects ---------------------------------- */

struct task_reference {
	const char *at, *kind, *to;
};

static const struct task_reference to_task = {"taskRef", "Task", "taskSpec"};
static const struct task_reference to_pipeline = {"pipelineRef", "Pipeline",
						  "pipelineSpec"};

/* Returns the name. If it is in another object, the result has the position of
 * the object's own reference. */
static const struct node *name_through(struct pod_builder *builder,
				       const struct node *name)
{
	const struct node *own =
		node_path(builder->object->spelled, "spec.pipelineRef.name");
	struct node *copy;

	if (!node_str(name) || !object_runtime_around(builder->object, name) ||
	    !own)
		return name;
	copy = ARENA_NEW(builder->arena, struct node);
	*copy = *own;
	copy->str = name->str;
	copy->len = name->len;
	return copy;
}

/* Returns the spec of the object to which the holder refers, or NULL.
 * References by a resolver or a bundle, and custom tasks, are not followed. */
static const struct node *spec_referred(struct pod_builder *builder,
					const struct node *holder,
					const struct task_reference *to)
{
	const struct node *ref = node_get(holder, to->at);
	const struct node *kind = node_get(ref, "kind");
	const struct runtime *from;

	if (!node_is_map(ref) || field_is_set(holder, to->to) ||
	    field_is_set(ref, "resolver") || field_is_set(ref, "bundle") ||
	    (!node_is_unset(kind) && !node_eq(kind, to->kind)))
		return NULL;
	from = runtime_find(builder, to->kind,
			    name_through(builder, node_get(ref, "name")));
	return from ? node_if_set(node_get(from->root, "spec")) : NULL;
}

/* Returns a copy of the map with the member, which replaces one of the same
 * key. */
static const struct node *with(struct pod_builder *builder,
			       const struct node *map, const char *key,
			       const struct node *value)
{
	struct node *out = merge_hollow(builder->arena, map);
	struct node view = node_view(builder->arena, value, key);

	FOR_EACH_CHILD(map, child)
		if (!text_eq(child->key, key))
			merge_add(builder->arena, &builder->merge_budget, out,
				  child);
	merge_add(builder->arena, &builder->merge_budget, out, &view);
	return out;
}

static const struct node *resolved(struct pod_builder *builder,
				   const struct node *holder,
				   const struct task_reference *to)
{
	const struct node *spec = spec_referred(builder, holder, to);

	return node_is_map(spec) ? with(builder, holder, to->to, spec) : holder;
}

static bool any_referred(const struct node *tasks)
{
	FOR_EACH_CHILD(tasks, task)
		if (!node_is_unset(node_get(task, to_task.at)))
			return true;
	return false;
}

static const struct node *tasks_resolved(struct pod_builder *builder,
					 const struct node *pipeline,
					 const char *key)
{
	const struct node *tasks = node_get(pipeline, key);
	struct node *out;

	if (!any_referred(tasks) || too_many(builder->arena, tasks, tasks))
		return pipeline;
	out = merge_hollow(builder->arena, tasks);
	FOR_EACH_CHILD(tasks, task)
		merge_add(builder->arena, &builder->merge_budget, out,
			  resolved(builder, task, &to_task));
	return with(builder, pipeline, key, out);
}

static const struct node *merged(struct pod_builder *builder)
{
	const struct node *root = builder->object->spelled;
	const struct node *spec = node_get(root, "spec"), *all, *pipeline;

	if (!text_starts(builder->object->kind, to_pipeline.kind)) {
		all = resolved(builder, spec, &to_task);
	} else {
		all = resolved(builder, spec, &to_pipeline);
		pipeline = node_get(all, to_pipeline.to);
		if (node_is_map(pipeline)) {
			const struct node *known =
				tasks_resolved(builder, pipeline, "tasks");

			known = tasks_resolved(builder, known, "finally");
			if (known != pipeline)
				all = with(builder, all, to_pipeline.to, known);
		}
	}
	return all == spec ? root : with(builder, root, "spec", all);
}

/* -- variables ------------------------------------------------------------- */

/* True for `$(params.gpus)` or `$(params["gpus"])`, which the controller fills
 * in. Names of the kubelet's variables have another form. */
static bool is_filled(const struct node *node)
{
	const char *at = node_str(node);

	while (at && (at = strstr(at, "$("))) {
		for (at += 2; islower((unsigned char)*at);)
			at++;
		if (*at == '.' || *at == '[')
			return true;
	}
	return false;
}

/* Returns the first item that may become several words, or NULL. */
static const struct node *any_list(const struct node *words)
{
	FOR_EACH_CHILD(words, item)
		if (is_filled(item) && strstr(item->str, "[*]"))
			return item;
	return NULL;
}

static bool is_command(const struct node *node)
{
	static const char *const keys[] = {"command", "args", "script", NULL};

	return node->key && text_any(node->key, keys, text_eq);
}

static const struct node *unknown_like(struct pod_builder *builder,
				       const struct node *tree)
{
	struct node *out = ARENA_NEW(builder->arena, struct node);

	*out = *tree;
	out->type = NODE_STRING;
	out->str = "";
	out->len = 0;
	out->flags |= NODE_UNKNOWN;
	return out;
}

/* Returns a copy of the tree without the children from that one on. */
static struct node *copy_until(struct pod_builder *builder,
			       const struct node *tree, const struct node *end)
{
	struct node *out = merge_hollow(builder->arena, tree);

	for (const struct node *child = tree->first; child != end;
	     child = child->next)
		merge_add(builder->arena, &builder->merge_budget, out, child);
	return out;
}

/* Returns the tree with unknown values where the controller fills them in.
 * Commands are copied as they are, because their readers find variables
 * themselves, unless one item may become several words. */
static const struct node *filled(struct pod_builder *builder,
				 const struct node *tree)
{
	struct node *out = NULL;

	if (is_command(tree))
		return any_list(tree) ? unknown_like(builder, tree) : tree;
	if (!node_first(tree))
		return is_filled(tree) ? unknown_like(builder, tree) : tree;
	FOR_EACH_CHILD(tree, child) {
		const struct node *one = filled(builder, child);

		if (!out && one == child)
			continue;
		if (!out)
			out = copy_until(builder, tree, child);
		merge_add(builder->arena, &builder->merge_budget, out, one);
	}
	return out ? out : tree;
}

/* Returns a copy for several steps; fixes do not change its values. */
static const struct node *shared(struct pod_builder *builder,
				 const struct node *tree)
{
	struct node *out;

	if (!node_first(tree))
		return tree;
	out = merge_hollow(builder->arena, tree);
	FOR_EACH_CHILD(tree, child)
		merge_add(builder->arena, &builder->merge_budget, out,
			  shared(builder, child));
	return out;
}

/* -- steps ----------------------------------------------------------------- */

/* Values by which the steps of one pod are built. */
struct task {
	struct pod_builder *builder;
	const struct node *below; /* the task's stepTemplate */
	/* map with the env of the run's pod template */
	const struct node *above;
	bool unsure; /* the run changes the steps' resources */
};

/* Adds the value to the step under that key, as an unknown one unless `known`
 * is set. */
static void put(const struct task *task, struct node *out,
		const struct node *value, const char *key, bool known)
{
	struct pod_builder *builder = task->builder;
	struct node view;

	if (!value)
		return;
	view = node_view(builder->arena, value, key);
	if (!known)
		view.flags |= NODE_UNKNOWN;
	merge_add(builder->arena, &builder->merge_budget, out, &view);
}

static bool is_for_shell(const char *script)
{
	script += strspn(script, " \t\r\n");
	if (!text_starts(script, "#!"))
		return true;
	return text_find(script, strcspn(script, "\n"), "bin/sh") ||
	       text_find(script, strcspn(script, "\n"), "env sh") ||
	       text_find(script, strcspn(script, "\n"), "bash");
}

/* Replaces the step's command by a shell that runs the script, which becomes
 * the field `source`; by an unknown command if the script is not for a
 * shell. */
static void put_script(const struct task *task, struct node *out,
		       const struct node *script)
{
	static const char shell[] = "sh";
	struct node *list, word = *script;

	if (!is_for_shell(script->str)) {
		put(task, out, script, "command", false);
		return;
	}
	word.str = shell;
	word.len = sizeof(shell) - 1;
	list = merge_hollow(task->builder->arena, script);
	list->type = NODE_SEQ;
	merge_add(task->builder->arena, &task->builder->merge_budget, list,
		  &word);
	put(task, out, list, "command", true);
	put(task, out, script, "source", true);
}

/* Fields that a step takes from the StepAction to which it refers. */
static const char *const referred[] = {
	"image",	"command",	   "args", "env",
	"volumeMounts", "securityContext", NULL};

/* True if container_made() replaces the value of the field. */
static bool is_made(const char *key, const struct node *script,
		    const struct node *ref)
{
	static const char *const keys[] = {"computeResources", "resources",
					   NULL};

	return text_any(key, keys, text_eq) ||
	       (script && text_eq(key, "command")) ||
	       (ref && text_any(key, referred, text_eq));
}

static const struct node *container_made(const struct task *task,
					 const struct node *step)
{
	struct pod_builder *builder = task->builder;
	uint32_t *budget = &builder->merge_budget;
	const struct node *all = step;
	const struct node *script = node_get(step, "script");
	const struct node *ref = node_if_set(node_get(step, "ref"));
	const char *resources = strcmp(builder->object->version, "v1beta1")
					? "computeResources"
					: "resources";
	struct node *out = merge_hollow(builder->arena, step);

	if (!node_str(script) || !*node_str(script))
		script = NULL;
	if (node_is_map(task->below))
		all = value_merge(builder->arena, budget, task->below, step);
	if (task->above)
		all = value_merge(builder->arena, budget, all, task->above);
	FOR_EACH_CHILD(all, field)
		if (!is_made(field->key, script, ref))
			merge_add(builder->arena, budget, out, field);
	if (script)
		put_script(task, out, script);
	for (size_t i = 0; ref && referred[i]; i++)
		put(task, out, ref, referred[i], false);
	put(task, out,
	    task->unsure ? step : node_if_set(node_get(all, resources)),
	    "resources", !task->unsure);
	return out;
}

static void put_list(const struct task *task, struct node *out,
		     const struct node *list)
{
	struct pod_builder *builder = task->builder;
	struct node *all;

	if (!list)
		return;
	all = merge_hollow(builder->arena, list);
	FOR_EACH_CHILD(list, item)
		merge_add(builder->arena, &builder->merge_budget, all,
			  node_is_map(item) ? container_made(task, item)
					    : item);
	merge_add(builder->arena, &builder->merge_budget, out, all);
}

/* Returns a map with `env` of the run's pod template, or else of that for all
 * tasks of a pipeline; NULL if neither is set. */
static const struct node *env_above(const struct task *task)
{
	struct pod_builder *builder = task->builder;
	const struct node *spec = node_get(builder->object->root, "spec");
	const struct node *env = node_path(spec, "podTemplate.env");
	struct node *out;

	if (node_is_unset(env))
		env = node_path(spec, "taskRunTemplate.podTemplate.env");
	if (node_is_unset(env))
		return NULL;
	out = merge_hollow(builder->arena, spec);
	put(task, out, shared(builder, env), "env", true);
	return out;
}

/* True if the run replaces the resources of steps or sidecars:
 * `computeResources` sets the limits of each step, and divides the requests
 * among the steps. */
static bool run_has_resources(const struct node *run)
{
	return field_is_set(run, "computeResources") ||
	       field_is_set(run, "stepSpecs") ||
	       field_is_set(run, "stepOverrides") ||
	       field_is_set(run, "sidecarSpecs") ||
	       field_is_set(run, "sidecarOverrides");
}

static const struct node *task_of(const struct node *holder)
{
	const struct node *task = node_get(holder, "taskSpec");

	return node_is_unset(task) ? holder : task;
}

static bool is_list_made(const struct node *field)
{
	return text_eq(field->key, "taskSpec") ||
	       text_eq(field->key, "steps") || text_eq(field->key, "sidecars");
}

static void patch(struct pod_builder *builder, struct pod *pod)
{
	const struct node *all = filled(builder, pod->spec);
	const struct node *task = task_of(all);
	const struct node *own = node_get(builder->object->root, "spec");
	bool elsewhere =
		object_runtime_around(builder->object, task_of(pod->source));
	struct node *out = merge_hollow(builder->arena, elsewhere ? own : all);
	struct task steps = {
		.builder = builder,
		.unsure = run_has_resources(pod->source),
	};

	FOR_EACH_CHILD(all, field)
		if (!is_list_made(field))
			merge_add(builder->arena, &builder->merge_budget, out,
				  field);
	put_list(&steps, out, node_get(task, "sidecars"));
	steps.below = shared(builder, node_get(task, "stepTemplate"));
	steps.above = env_above(&steps);
	steps.unsure |= node_is_unknown(steps.below);
	put_list(&steps, out, node_get(task, "steps"));
	/* Runs of single tasks may have another template or other resources. */
	if (node_is_unknown(task) || field_is_set(own, "taskRunSpecs"))
		out->flags |= NODE_UNKNOWN;
	pod->spec = out;
	if (elsewhere)
		pod->base = task_of(pod->source);
}

static bool is_at_shm(const struct node *workspaces)
{
	FOR_EACH_CHILD(workspaces, one)
		if (text_contains(node_str(node_get(one, "mountPath")), "shm"))
			return true;
	return false;
}

/* Returns what Tekton may add. The platform's `default-pod-template` sets
 * tolerations and a node selector if the run does not set them, and a workspace
 * may be mounted at /dev/shm. */
static unsigned injects(const struct pod_builder *builder,
			const struct pod *pod)
{
	unsigned bits = 0;

	(void)builder;
	if (is_at_shm(node_get(task_of(pod->source), "workspaces")))
		bits |= INJECT_SHM_UNKNOWN;
	if (node_is_unset(pod->tolerations) ||
	    node_is_unset(pod->node_selector))
		bits |= INJECT_SELECTOR;
	return bits;
}

/* True if a matrix makes a run of a task for each combination. */
static bool fans_out(const struct object *object)
{
	FOR_EACH_POD(object, pod)
		if (field_is_set(pod->group, "matrix"))
			return true;
	return false;
}

/* Marks the peaks as unknown like the steady numbers, because tasks may run at
 * the same time or not. */
static void peaks(struct arena *arena, struct object *object)
{
	(void)arena;
	for (size_t i = 0; i < object->npods; i++)
		if (object->pods[i].peak.n)
			object->pods[i].peak = object->pods[i].steady;
}

const struct workload_operator operator_tekton = {
	.merged = merged,
	.patch = patch,
	.injects = injects,
	.peaks = peaks,
	.fans_out = fans_out,
};
