/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Argo Workflows, Rollouts and analyses. Devices may be in podSpecPatch, a
 * string: the workflow's, then the template's, a strategic merge each.
 *
 * Sources: Argo workflowpod.go (podSpecPatch), docs/retries.md (no limit: until
 * completion); Rollouts' types.
 */
#include "rules/kube/operators/argo.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"

/* Argo Rollouts: blue-green runs both versions, canary has maxSurge 25%. */
COUNT_FORMULA(rollout)
{
	struct amount replicas = amount_field(at, "replicas", 1);
	const struct node *canary = node_path(at, "strategy.canary");

	if (field_is_set(node_get(at, "strategy"), "blueGreen"))
		return amount_mul(replicas, amount_of(2));
	return amount_add(replicas, amount_share(node_get(canary, "maxSurge"),
						 replicas, 25));
}

/* -- podSpecPatch ---------------------------------------------------------- */

static bool is_of_name(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("-_./", c));
}

/* Does the string name an accelerator resource (`nvidia.com/gpu`)? */
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

/* A field that leads to devices, in any case of its letters; or NULL. */
static const char *field_in_any_case(const char *key)
{
	static const char *const fields[] = {
		"containers", "initContainers", "name",
		"resources",  "limits",		"requests",
	};

	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		if (key && !strcasecmp(key, fields[i]))
			return fields[i];
	return NULL;
}

static bool is_variant(const struct node *node)
{
	const char *field = field_in_any_case(node->key);

	return field && strcmp(node->key, field) != 0;
}

static bool any_variant(const struct node *tree)
{
	FOR_EACH_CHILD(tree, child)
		if (is_variant(child) || any_variant(child))
			return true;
	return false;
}

static struct node renamed(const struct node *node, const char *field)
{
	struct node out = *node;

	out.key = field;
	out.key_len = (uint32_t)strlen(field);
	out.tag = node_tag(field, out.key_len);
	return out;
}

/*
 * The controller decodes the patched pod with encoding/json, which ignores the
 * case of field names: values of both spellings are merged.
 */
static const struct node *respelled(struct pod_builder *builder,
				    const struct node *tree)
{
	struct node *exact, *variants;
	uint32_t *budget = &builder->merge_budget;

	if (!any_variant(tree))
		return tree;
	exact = merge_hollow(builder->arena, tree);
	variants = merge_hollow(builder->arena, tree);
	FOR_EACH_CHILD(tree, child) {
		struct node one = *respelled(builder, child);

		if (is_variant(&one)) {
			one = renamed(&one, field_in_any_case(one.key));
			merge_add(builder->arena, budget, variants, &one);
		} else {
			merge_add(builder->arena, budget, exact, &one);
		}
	}
	return variants->len
		       ? value_merge(builder->arena, budget, exact, variants)
		       : exact;
}

/* No more containers are patched in practice; and all templates share one
 * patch. */
enum { PATCHED_MAX = 64 };

struct patched {
	const char *container, *resource;
	struct amount n;
};

/* The devices in a patch in a string. */
struct device_patch {
	struct patched items[PATCHED_MAX];
	size_t n;
	bool names; /* a device, at a place that was not read */
	bool open;  /* filled in later */
};

static const struct node *read_patch(struct arena *arena,
				     const struct node *patch)
{
	struct doc *doc = ARENA_NEW(arena, struct doc);
	struct loader loader;

	if (!patch->str || node_is_unknown(patch) ||
	    !embedded_init(&loader, arena, "podSpecPatch",
			   text_without_markup(arena, patch->str, patch->len),
			   patch->len))
		return NULL;
	/* PATCHED_MAX bounds the work on lists. */
	return loader_next(&loader, doc) == 1 ? doc->root : NULL;
}

/* False: there are too many. */
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
		respelled(builder, read_patch(builder->arena, node));

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

/* Replaces the container's values by the patch's. */
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

static void gpus(struct pod_builder *builder, struct pod *pod)
{
	const struct node *all = node_get(pod->defaults, "podSpecPatch");
	const struct node *own = node_get(pod->spec, "podSpecPatch");
	const struct node *usual =
		node_path(pod->defaults, "templateDefaults.podSpecPatch");

	/* Once for all templates. */
	if (!node_is_unset(all) && !builder->patch)
		builder->patch = patch_read(builder, all);
	if (builder->patch)
		apply_patch(builder, pod, builder->patch);
	if (!node_is_unset(own)) {
		apply_patch(builder, pod, patch_read(builder, own));
		return;
	}
	if (!node_is_unset(usual) && !builder->usual_patch)
		builder->usual_patch = patch_read(builder, usual);
	if (builder->usual_patch)
		apply_patch(builder, pod, builder->usual_patch);
}

/* -- runs -------------------------------------------------------------------
 */

static bool any_fan_out(const struct node *steps)
{
	static const char *const keys[] = {"withItems", "withParam",
					   "withSequence"};

	FOR_EACH_CHILD(steps, step) {
		if (node_is_seq(step) && any_fan_out(step))
			return true;
		for (size_t i = 0; i < 3; i++)
			if (!node_is_unset(node_get(step, keys[i])))
				return true;
	}
	return false;
}

/* True if some step of a workflow runs once for every item of a list. */
static bool fans_out(const struct object *object)
{
	const struct node *spec = node_get(object->root, "spec");

	if (!node_is_unset(node_get(spec, "workflowSpec")))
		spec = node_get(spec, "workflowSpec");
	FOR_EACH_CHILD(node_get(spec, "templates"), template)
		if (any_fan_out(node_get(template, "steps")) ||
		    any_fan_out(node_path(template, "dag.tasks")))
			return true;
	return false;
}

/* `retryStrategy: {}` retries until completion; errors of the system only,
 * or an expression of the author's own, are another matter. */
static const struct node *endless(const struct pod *pod)
{
	const struct node *strategy = pod_field(pod, "retryStrategy");

	if (!node_is_map(strategy) || node_is_unknown(strategy) ||
	    !node_is_unset(node_get(strategy, "limit")) ||
	    !node_is_unset(node_get(strategy, "expression")) ||
	    !node_is_unset(node_path(strategy, "backoff.maxDuration")) ||
	    node_eq(node_get(strategy, "retryPolicy"), "OnError"))
		return NULL;
	return strategy;
}

const struct workload_operator operator_argo = {
	.gpus = gpus,
	.peaks = argo_peaks,
	.fans_out = fans_out,
	.endless = endless,
};
