/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RoleBasedGroup: builds and counts the pods of its roles. A role's template is
 * in the object itself; engine runtimes, which are objects of the cluster, add
 * containers to it.
 *
 * Source: sgl-project/rbg 993491f (v0.8.0-alpha.5): api/workloads/v1alpha1 and
 * v1alpha2, injectRuntime() of pkg/discovery/sidecar_builder.go.
 */
#include "rules/kube/operator.h"

#include "base/array.h"
#include "base/text.h"
#include "kube/runtime.h"

static const struct node *pattern_of(const struct node *role)
{
	const struct node *set = node_get(role, "leaderWorkerSet");

	return node_is_unset(set) ? node_get(role, "leaderWorkerPattern") : set;
}

/* -- counts ---------------------------------------------------------------- */

static struct amount group_size(const struct node *role)
{
	return amount_field(pattern_of(role), "size", 1);
}

static struct amount role_workers(const struct node *role)
{
	struct amount size = group_size(role);

	if (size.n > 0)
		size.n--;
	return amount_mul(amount_field(role, "replicas", 1), size);
}

/* Returns the number of the role's pods. Leaders and workers that have a patch
 * are counted separately. */
static struct amount role_own(const struct node *role)
{
	const struct node *pattern = pattern_of(role);
	struct amount n =
		amount_mul(amount_field(role, "replicas", 1), group_size(role));

	if (field_is_set(pattern, "leaderTemplatePatch") ||
	    field_is_set(pattern, "patchLeaderTemplate"))
		n.n -= amount_field(role, "replicas", 1).n;
	if (field_is_set(pattern, "workerTemplatePatch") ||
	    field_is_set(pattern, "patchWorkerTemplate"))
		n.n -= role_workers(role).n;
	if (n.n < 0)
		n.n = 0;
	return n;
}

/* Returns the reference of a role to a template, or NULL. */
static const struct node *template_ref(const struct node *role)
{
	static const char *const paths[] = {"standalonePattern.templateRef",
					    "leaderWorkerPattern.templateRef",
					    "templateRef"};

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		if (!node_is_unset(node_path(role, paths[i])))
			return node_path(role, paths[i]);
	return NULL;
}

/* Returns the patch of the role's template, or NULL; in v1alpha1 it is in the
 * role. */
static const struct node *template_patch(const struct node *role)
{
	const struct node *patch = node_get(template_ref(role), "patch");

	return node_is_unset(patch) ? node_get(role, "templatePatch") : patch;
}

/* True if the role's template is changed for this role: by its patch, or by the
 * containers of engine runtimes. */
static bool changes_template(const struct node *role)
{
	return !node_is_unset(template_patch(role)) ||
	       node_first(node_get(role, "engineRuntimes"));
}

/* Counts the pods of roles that use this template unchanged. The number is
 * unknown if no role uses it. */
COUNT_FORMULA(role_template)
{
	const char *name = node_str(node_get(at, "name"));
	const struct node *spec = at->parent ? at->parent->parent : NULL;
	struct amount sum = {.unknown = true};

	if (too_many(place->arena, at->parent, node_get(spec, "roles")))
		return sum;
	FOR_EACH_CHILD(node_get(spec, "roles"), role) {
		const struct node *ref = template_ref(role);

		if (!name || !node_eq(node_get(ref, "name"), name))
			continue;
		sum.unknown = false;
		if (!changes_template(role))
			sum = amount_add(sum, role_own(role));
	}
	return sum;
}

COUNT_FORMULA(role_own)
{
	return role_own(at);
}

COUNT_FORMULA(role_workers)
{
	return role_workers(at);
}

/* -- warming up nodes ------------------------------------------------------ */

/* Counts the nodes whose pods run at once; the field `at` limits them. The
 * nodes are unknown if labels or the pods of a group select them. */
COUNT_FORMULA(warmed)
{
	const struct node *names =
		node_path(place->object->root, "spec.targetNodes.nodeNames");
	struct amount n = {.n = 1, .unknown = true};
	struct amount most = amount_int(at, INT64_MAX);

	if (node_is_seq(names))
		n = amount_of((int64_t)node_count(names));
	return most.n < n.n ? most : n;
}

/* -- templates ------------------------------------------------------------- */

static const struct node *referred(const struct pod_builder *builder,
				   const struct node *role)
{
	const struct node *name = node_get(template_ref(role), "name");
	const struct node *spec = role->parent ? role->parent->parent : NULL;

	if (!node_str(name) || too_many(builder->arena, role->parent,
					node_get(spec, "roleTemplates")))
		return NULL;
	FOR_EACH_CHILD(node_get(spec, "roleTemplates"), template)
		if (node_eq(node_get(template, "name"), node_str(name)))
			return node_get(template, "template");
	return NULL;
}

/* Returns the template that leaders and workers share. */
static const struct node *shared(struct pod_builder *builder,
				 const struct node *role)
{
	const struct node *own = node_get(pattern_of(role), "template");

	if (node_is_unset(own))
		own = node_get(role, "template");
	if (!node_is_unset(own))
		return own;
	return template_merge(builder->arena, &builder->merge_budget,
			      referred(builder, role), template_patch(role));
}

static const struct node *template(struct pod_builder *builder,
				   const struct node *patch)
{
	const struct node *role = builder->group;
	const struct node *from;

	if (node_is_unset(patch))
		return NULL;
	/* Only engine runtimes change a template that is referred to without a
	 * patch. */
	if (patch == template_ref(role))
		return node_is_unset(template_patch(role)) &&
				       changes_template(role)
			       ? referred(builder, role)
			       : NULL;
	from = patch == template_patch(role) ? referred(builder, role)
					     : shared(builder, role);
	/* A template that is not in the file is unknown. */
	return node_is_map(from)
		       ? template_merge(builder->arena, &builder->merge_budget,
					from, patch)
		       : patch;
}

/* -- engine runtimes ------------------------------------------------------- */

/* Lists of a profile that are appended to those of the pod. */
static const char *const lists[] = {"initContainers", "containers", "volumes",
				    NULL};

static const struct node *named(const struct node *list,
				const struct node *name)
{
	FOR_EACH_CHILD(list, item)
		if (node_str(name) &&
		    node_eq(node_get(item, "name"), node_str(name)))
			return item;
	return NULL;
}

/* Returns the container with the variables and arguments of `more` appended. */
static const struct node *extended(struct pod_builder *builder,
				   const struct node *c,
				   const struct node *more)
{
	static const char *const keys[] = {"env", "args", NULL};
	uint32_t *budget = &builder->merge_budget;
	struct node *patch = merge_hollow(builder->arena, c);

	for (size_t i = 0; keys[i]; i++) {
		const struct node *list = node_get(more, keys[i]);
		struct node view;

		if (!node_first(list))
			continue;
		view = node_view(builder->arena, list, keys[i]);
		view.key_start = VIEW_APPENDS;
		merge_add(builder->arena, budget, patch, &view);
	}
	return node_first(patch) ? value_merge(builder->arena, budget, c, patch)
				 : c;
}

/* One engine runtime of a role and its profile. */
struct engine {
	const struct node *profile, *use;
};

static const struct node *list_with(struct pod_builder *builder,
				    const struct engine *engine,
				    const struct node *own, const char *key)
{
	const struct node *more = node_get(engine->profile, key);
	const struct node *over =
		text_eq(key, "containers") ? node_get(engine->use, key) : NULL;
	struct node *out = merge_hollow(builder->arena, own ? own : more);

	FOR_EACH_CHILD(own, item) {
		const struct node *name = node_get(item, "name");

		merge_add(builder->arena, &builder->merge_budget, out,
			  named(more, name)
				  ? extended(builder, item, named(over, name))
				  : item);
	}
	FOR_EACH_CHILD(more, item) {
		const struct node *name = node_get(item, "name");

		if (!named(own, name))
			merge_add(builder->arena, &builder->merge_budget, out,
				  extended(builder, item, named(over, name)));
	}
	return out;
}

static const struct node *spec_with(struct pod_builder *builder,
				    const struct node *spec,
				    const struct engine *engine)
{
	struct node *out = merge_hollow(builder->arena, spec);

	for (size_t i = 0; lists[i]; i++)
		if (too_many(builder->arena, node_get(spec, lists[i]),
			     node_get(engine->profile, lists[i])))
			return spec;
	FOR_EACH_CHILD(spec, field)
		merge_add(
			builder->arena, &builder->merge_budget, out,
			text_any(field->key, lists, text_eq)
				? list_with(builder, engine, field, field->key)
				: field);
	for (size_t i = 0; lists[i]; i++)
		if (node_is_unset(node_get(spec, lists[i])) &&
		    node_is_seq(node_get(engine->profile, lists[i])))
			merge_add(builder->arena, &builder->merge_budget, out,
				  list_with(builder, engine, NULL, lists[i]));
	return out;
}

/* Adds the init containers, containers and volumes of the role's profiles. */
static void patch(struct pod_builder *builder, struct pod *pod)
{
	const struct node *engines = node_get(builder->group, "engineRuntimes");

	if (!node_is_map(pod->spec) || !node_is_seq(engines))
		return;
	FOR_EACH_CHILD(engines, use) {
		const struct runtime *from =
			runtime_find(builder, "ClusterEngineRuntimeProfile",
				     node_get(use, "profileName"));
		struct engine engine = {NULL, use};

		if (from)
			engine.profile = node_get(from->root, "spec");
		if (node_is_map(engine.profile))
			pod->spec = spec_with(builder, pod->spec, &engine);
	}
}

/* -- gangs ----------------------------------------------------------------- */

static struct gang of_roles(const struct object *object)
{
	struct gang gang = {.n = amount_of(1), .needed = true};
	const struct node *wanted = object_annotation(
		object, "rbg.workloads.x-k8s.io/group-gang-scheduling");

	if (node_eq(wanted, "true")) {
		gang.n = gang_sum(object);
		gang.by_operator = true;
		return gang;
	}
	FOR_EACH_POD(object, pod) {
		gang.n = amount_max(gang.n, group_size(pod->group));
	}
	return gang;
}

static struct gang gang(const struct object *object)
{
	static const char *const kinds[] = {"RoleBasedGroup",
					    "RoleBasedGroupSet", NULL};

	return text_any(object->kind, kinds, text_eq) ? of_roles(object)
						      : gang_none(object);
}

const struct workload_operator operator_rolebasedgroup = {
	.template = template,
	.patch = patch,
	.gang = gang,
};
