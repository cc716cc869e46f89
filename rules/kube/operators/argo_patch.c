/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Applies podSpecPatch, a string in a workflow or a template that contains a
 * strategic merge patch of the pod's spec. If the patch cannot be read but its
 * text names an accelerator, the pod's devices are unknown.
 *
 * Source: Argo Workflows workflow/util/util.go, ApplyPodSpecPatch.
 */
#include "rules/kube/operators/argo.h"

#include <ctype.h>
#include <string.h>

#include "base/text.h"
#include "doc/build.h"
#include "doc/load.h"

static bool is_of_name(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("-_./", c));
}

/* True if the string names an accelerator resource (`nvidia.com/gpu`). */
static bool names_accelerator(const struct kube_config *config,
			      const char *text)
{
	const char *start, *end = text;
	char name[128];

	while ((start = strchr(end, '/'))) {
		while (start > end && is_of_name(start[-1]))
			start--;
		for (end = start; is_of_name(*end);)
			end++;
		if ((size_t)(end - start) >= sizeof(name))
			continue;
		memcpy(name, start, (size_t)(end - start));
		name[end - start] = '\0';
		if (accelerator_find(&config->accelerators, name))
			return true;
	}
	return false;
}

/* Limit on patched containers, because all templates share one patch. Real
 * patches have fewer. */
enum { PATCHED_MAX = 64 };

struct patched {
	const char *container, *resource;
	struct amount n;
};

/* A patch in a string, and the devices in it. */
struct device_patch {
	const struct node *tree; /* NULL: it could not be read */
	struct patched items[PATCHED_MAX];
	size_t n;
	bool names; /* devices are unknown: the text names an accelerator */
	bool open;  /* devices may be unknown: the text has a placeholder */
};

/* Copies a tree and places its nodes at the string, so that findings point at
 * the string and JSON pointers continue inside of it. */
static struct node *placed_in(struct arena *arena, struct node *string,
			      struct node *parent, const struct node *tree)
{
	bool holds = node_is_map(tree) || node_is_seq(tree);
	struct node *out = merge_hollow(arena, tree);

	out->len = holds ? 0 : tree->len;
	out->parent = parent;
	out->start = out->key_start = string->start;
	out->end = out->key_end = string->end;
	FOR_EACH_CHILD(tree, item)
		node_link(out, placed_in(arena, string,
					 tree->parent ? out : string, item));
	return out;
}

static const struct node *read_patch(struct arena *arena,
				     const struct node *patch)
{
	struct doc *doc = ARENA_NEW(arena, struct doc);
	struct node *string;
	struct loader loader;

	if (!patch->str || node_is_unknown(patch) ||
	    !embedded_init(&loader, arena, "podSpecPatch",
			   text_without_markup(arena, patch->str, patch->len),
			   patch->len))
		return NULL;
	/* Unlike embedded_next(), loader_next() does not charge the budget for
	 * lists. PATCHED_MAX limits the work on them. */
	if (loader_next(&loader, doc) != 1 || !node_is_map(doc->root))
		return NULL;
	placeholder_mark(doc);
	string = ARENA_NEW(arena, struct node);
	*string = *patch;
	return placed_in(arena, string, string, doc->root);
}

/* Adds the devices of the list's containers. Returns false if there are too
 * many. */
static bool patch_list(const struct kube_config *config,
		       struct device_patch *patch, const struct node *list)
{
	FOR_EACH_CHILD(list, item) {
		struct patched one = {.container =
					      node_str(node_get(item, "name"))};

		one.n = devices_asked(config, node_get(item, "resources"),
				      &one.resource);
		if (!one.resource)
			continue;
		if (patch->n == PATCHED_MAX)
			return false;
		patch->items[patch->n++] = one;
	}
	return true;
}

static struct device_patch *patch_read(struct pod_builder *builder,
				       const struct node *node)
{
	struct device_patch *patch =
		ARENA_NEW(builder->arena, struct device_patch);
	const struct node *tree =
		argo_respelled(builder, read_patch(builder->arena, node));

	patch->tree = tree;
	if (node_is_map(tree) &&
	    patch_list(builder->config, patch, node_get(tree, "containers")) &&
	    patch_list(builder->config, patch,
		       node_get(tree, "initContainers")))
		return patch;
	patch->names =
		node->str && names_accelerator(builder->config, node->str);
	patch->open =
		node_is_unknown(node) || (node->str && strstr(node->str, "{{"));
	return patch;
}

static struct container *named(struct pod *pod, const char *name)
{
	for (size_t i = 0; name && i < pod->ncontainers; i++)
		if (text_eq(pod->containers[i].name, name))
			return &pod->containers[i];
	return NULL;
}

/* Replaces the container's devices by those of the patch. If the pod lacks the
 * container, they are added to the pod. */
static void patch_container(struct pod_builder *builder, struct pod *pod,
			    const struct patched *item)
{
	struct container *c = named(pod, item->container);
	bool any = item->n.n || item->n.unknown;

	if (any)
		pod->gpu_by |= GPU_BY_OPERATOR;
	if (!c) {
		pod->gpus = amount_add(pod->gpus, item->n);
		return;
	}
	c->gpus = item->n;
	if (any && !c->accelerator) {
		c->resource = item->resource;
		c->accelerator = accelerator_find(
			&builder->config->accelerators, item->resource);
	}
}

static void apply_patch(struct pod_builder *builder, struct pod *pod,
			const struct device_patch *patch)
{
	for (size_t i = 0; i < patch->n; i++)
		patch_container(builder, pod, &patch->items[i]);
	if (patch->names) {
		pod->gpu_by |= GPU_BY_OPERATOR;
		pod->gpus.unknown = true;
	} else if (patch->open) {
		pod->gpu_unknown = true;
	}
}

/* --- the patched pod ------------------------------------------------------ */

/* Moves the merged value to the position of the author's value. */
static const struct node *placed(struct arena *arena, const struct node *merged,
				 const struct node *written)
{
	struct node *out = merge_hollow(arena, written);

	out->first = merged->first;
	out->last = merged->last;
	out->len = merged->len;
	out->tags = merged->tags;
	out->flags = merged->flags;
	return out;
}

struct argo_target {
	struct pod_builder *builder;
	const struct node *element; /* the template */
	struct node *patch;	    /* podSpecPatch in the template's fields */
	/* set has containers of containerSet, beside has the others. */
	struct node *set, *beside;
};

static void put(struct argo_target *t, struct node *map,
		const struct node *value, const char *field)
{
	const struct node one = argo_renamed(value, field);

	merge_add(t->builder->arena, &t->builder->merge_budget, map, &one);
}

static bool has_item(const struct node *list, const char *name)
{
	FOR_EACH_CHILD(list, item)
		if (node_eq(node_get(item, "name"), name))
			return true;
	return false;
}

/* Patches a container: the one that Argo calls main, one of the template's, or
 * a new one. A patch may also set resources of the executor's containers; they
 * have no image here and are skipped. */
static void put_container(struct argo_target *t, const struct node *item)
{
	static const char *const mains[] = {"container", "script"};
	const char *name = node_str(node_get(item, "name"));
	const struct node *set =
		node_path(t->element, "containerSet.containers");
	struct arena *arena = t->builder->arena;
	uint32_t *budget = &t->builder->merge_budget;

	for (size_t i = 0; name && !strcmp(name, "main") && i < 2; i++) {
		const struct node *own = node_get(t->element, mains[i]);

		if (!node_is_map(own))
			continue;
		put(t, t->patch,
		    placed(arena, value_merge(arena, budget, own, item), own),
		    mains[i]);
		return;
	}
	if (name && has_item(set, name))
		merge_add(arena, budget, t->set, item);
	else if (name && (!node_is_unset(node_get(item, "image")) ||
			  has_item(node_get(t->element, "sidecars"), name)))
		merge_add(arena, budget, t->beside, item);
}

static void put_lists(struct argo_target *t)
{
	struct arena *arena = t->builder->arena;
	uint32_t *budget = &t->builder->merge_budget;
	const struct node *sidecars = node_get(t->element, "sidecars");
	struct node *holder;

	if (t->set->len) {
		holder = merge_hollow(arena, t->patch);
		put(t, holder, t->set, "containers");
		put(t, t->patch, holder, "containerSet");
	}
	if (t->beside->len)
		put(t, t->patch,
		    node_is_seq(sidecars)
			    ? value_merge(arena, budget, sidecars, t->beside)
			    : t->beside,
		    "sidecars");
}

/* Returns the patch's value. If the workflow sets the field for all templates
 * and this template does not, returns it merged into the workflow's value. */
static const struct node *with_default(struct argo_target *t,
				       const struct pod *pod,
				       const struct node *value)
{
	const struct node *all = node_get(pod->defaults, value->key);

	if (node_is_unset(all) ||
	    !node_is_unset(node_get(t->element, value->key)))
		return value;
	return value_merge(t->builder->arena, &t->builder->merge_budget, all,
			   value);
}

/* Charges the budget for merging the patch into this template. Returns false if
 * the budget is too small, as many templates may share a patch. */
static bool is_affordable(struct pod_builder *builder,
			  const struct argo_target *t, const struct node *tree)
{
	size_t own =
		node_count(node_get(t->element, "sidecars")) +
		node_count(node_path(t->element, "containerSet.containers"));
	size_t cost = tree->len +
		      node_count(node_get(tree, "containers")) * (own + 1);

	if (builder->merge_budget < cost)
		return false;
	builder->merge_budget -= (uint32_t)cost;
	return true;
}

static void merge_patch(struct pod_builder *builder, struct pod *pod,
			const struct node *tree)
{
	struct argo_target t = {.builder = builder, .element = pod->spec};
	const struct node *list = node_get(tree, "containers");

	if (!node_is_map(tree) || !node_is_map(pod->spec))
		return;
	if (!is_affordable(builder, &t, tree)) {
		pod->gpu_unknown = true;
		return;
	}
	t.patch = merge_hollow(builder->arena, tree);
	if (node_is_seq(list)) {
		t.set = merge_hollow(builder->arena, list);
		t.beside = merge_hollow(builder->arena, list);
		FOR_EACH_CHILD(list, item)
			put_container(&t, item);
		put_lists(&t);
	}
	FOR_EACH_CHILD(tree, value)
		if (value != list && !node_is_unset(value))
			put(&t, t.patch, with_default(&t, pod, value),
			    value->key);
	pod->spec = placed(builder->arena,
			   value_merge(builder->arena, &builder->merge_budget,
				       pod->spec, t.patch),
			   pod->spec);
}

/* --- all patches ---------------------------------------------------------- */

static const struct device_patch *read_once(struct pod_builder *builder,
					    struct device_patch **kept,
					    const struct node *node)
{
	if (!node_is_unset(node) && !*kept)
		*kept = patch_read(builder, node);
	return *kept;
}

/* Stores the patches to apply, in the controller's order: the workflow's, then
 * the template's. A patch in the template replaces that of templateDefaults.
 * Returns their number. */
static size_t patches(struct pod_builder *builder, const struct pod *pod,
		      const struct device_patch *out[2])
{
	const struct node *own = node_get(pod->source, "podSpecPatch");
	size_t n = 0;

	out[n] = read_once(builder, &builder->patch,
			   node_get(pod->defaults, "podSpecPatch"));
	n += out[n] != NULL;
	out[n] = node_is_unset(own)
			 ? read_once(builder, &builder->usual_patch,
				     node_path(pod->defaults,
					       "templateDefaults.podSpecPatch"))
			 : patch_read(builder, own);
	return n + (out[n] != NULL);
}

void argo_patch(struct pod_builder *builder, struct pod *pod)
{
	const struct device_patch *all[2];
	size_t n = patches(builder, pod, all);

	for (size_t i = 0; i < n; i++)
		merge_patch(builder, pod, all[i]->tree);
}

void argo_devices(struct pod_builder *builder, struct pod *pod)
{
	const struct device_patch *all[2];
	size_t n = patches(builder, pod, all);

	for (size_t i = 0; i < n; i++)
		apply_patch(builder, pod, all[i]);
}
