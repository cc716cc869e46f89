/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Applies a strategic merge patch to a PodTemplateSpec. Maps are merged, and
 * lists with a merge key item by item. Other values are replaced, and null
 * removes a value. Source: the patchStrategy and patchMergeKey tags of
 * k8s.io/api/core/v1 and k8s.io/apimachinery/pkg/util/strategicpatch.
 *
 * Merged nodes are new; a node that comes entirely from one side keeps its
 * parent and its source position.
 */
#include "rules/kube/operator.h"

#include "base/array.h"
#include "base/text.h"
#include "doc/budget.h"
#include "doc/build.h"

struct merger {
	struct arena *arena;
	uint32_t *budget;
};

static const struct node *merge(struct merger *merger, const struct node *value,
				const struct node *patch);

/* Returns the key that identifies the items of this list, or NULL. */
static const char *merge_key(const char *list)
{
	static const char *const keys[][2] = {
		{"containers", "name"},
		{"initContainers", "name"},
		{"ephemeralContainers", "name"},
		{"env", "name"},
		{"volumes", "name"},
		{"volumeMounts", "mountPath"},
		{"volumeDevices", "devicePath"},
		{"ports", "containerPort"},
		{"resourceClaims", "name"},
		{"imagePullSecrets", "name"},
		{"hostAliases", "ip"},
		{"topologySpreadConstraints", "topologyKey"},
		{"schedulingGates", "name"},
	};

	for (size_t i = 0; list && i < ARRAY_SIZE(keys); i++)
		if (!strcmp(list, keys[i][0]))
			return keys[i][1];
	return NULL;
}

bool pod_list_merges(const char *key)
{
	return merge_key(key) != NULL;
}

void merge_add(struct arena *arena, uint32_t *budget, struct node *out,
	       const struct node *node)
{
	struct node *child;

	if (!*budget) {
		out->flags |= NODE_UNKNOWN;
		if (arena->budget)
			arena->budget->over = true;
		return;
	}
	--*budget;
	child = ARENA_NEW(arena, struct node);
	*child = *node;
	node_link(out, child);
}

static void merge_child(struct merger *merger, struct node *out,
			const struct node *node)
{
	merge_add(merger->arena, merger->budget, out, node);
}

struct node *merge_hollow(struct arena *arena, const struct node *node)
{
	struct node *out = ARENA_NEW(arena, struct node);

	*out = *node;
	out->first = out->last = NULL;
	out->map_index = NULL;
	out->len = 0;
	out->tags = 0;
	return out;
}

static bool directs(const struct node *patch, const char *what)
{
	return node_eq(node_get(patch, "$patch"), what);
}

static bool is_directive(const struct node *node)
{
	return text_starts(node->key, "$");
}

/* True if the value is absent, or known and of the patch's type. */
static bool may_merge(const struct node *value, const struct node *patch)
{
	return !value ||
	       (value->type == patch->type && !node_is_unknown(value));
}

static const struct node *merge_map(struct merger *merger,
				    const struct node *map,
				    const struct node *patch)
{
	struct node *out = merge_hollow(merger->arena, patch);

	if (directs(patch, "replace"))
		map = NULL;
	if (too_many(merger->arena, map, patch)) {
		out->flags |= NODE_UNKNOWN;
		return out;
	}
	FOR_EACH_CHILD(map, value) {
		const struct node *with =
			node_getn(patch, value->key, value->key_len);

		if (!with)
			merge_child(merger, out, value);
		else if (!node_is_unset(with) && !directs(with, "delete"))
			merge_child(merger, out, merge(merger, value, with));
	}
	FOR_EACH_CHILD(patch, value)
		if (!node_is_unset(value) && !is_directive(value) &&
		    !node_get(value, "$patch") &&
		    !node_getn(map, value->key, value->key_len))
			merge_child(merger, out, merge(merger, NULL, value));
	return out;
}

static const struct node *find_item(const struct node *list, const char *key,
				    const struct node *like)
{
	const struct node *name = node_get(like, key);

	FOR_EACH_CHILD(list, item)
		if (name && node_get(item, key) &&
		    node_same(node_get(item, key), name))
			return item;
	return NULL;
}

static const struct node *merge_list(struct merger *merger, const char *key,
				     const struct node *list,
				     const struct node *patch)
{
	struct node *out = merge_hollow(merger->arena, patch);

	if (too_many(merger->arena, list, patch)) {
		out->flags |= NODE_UNKNOWN;
		return out;
	}
	FOR_EACH_CHILD(patch, item)
		if (directs(item, "replace"))
			list = NULL;
	FOR_EACH_CHILD(list, item) {
		const struct node *with = find_item(patch, key, item);

		if (!with)
			merge_child(merger, out, item);
		else if (!directs(with, "delete"))
			merge_child(merger, out, merge(merger, item, with));
	}
	FOR_EACH_CHILD(patch, item)
		if (!node_get(item, "$patch") && !find_item(list, key, item))
			merge_child(merger, out, item);
	return out;
}

static const struct node *append(struct merger *merger, const struct node *list,
				 const struct node *more)
{
	struct node *out = merge_hollow(merger->arena, more);

	out->flags |= (list->flags | more->flags) & NODE_UNKNOWN;
	FOR_EACH_CHILD(list, item)
		merge_child(merger, out, item);
	FOR_EACH_CHILD(more, item)
		merge_child(merger, out, item);
	return out;
}

static bool merges_as(const struct node *patch, enum view_merge how)
{
	return node_is_view(patch) && patch->key_start == how;
}

static const struct node *merge(struct merger *merger, const struct node *value,
				const struct node *patch)
{
	const char *key = merge_key(patch->key);

	if (merges_as(patch, VIEW_REPLACES))
		value = NULL;
	if (value && merges_as(patch, VIEW_APPENDS) &&
	    value->type == NODE_SEQ && patch->type == NODE_SEQ)
		return append(merger, value, patch);
	if (node_is_map(patch) && may_merge(value, patch))
		return merge_map(merger, value, patch);
	if (key && node_is_seq(patch) && may_merge(value, patch))
		return merge_list(merger, key, value, patch);
	return patch;
}

const struct node *value_merge(struct arena *arena, uint32_t *budget,
			       const struct node *value,
			       const struct node *patch)
{
	struct merger merger = {arena, budget};

	return merge(&merger, value, patch);
}

const struct node *template_merge(struct arena *arena, uint32_t *budget,
				  const struct node *template,
				  const struct node *patch)
{
	struct merger merger = {arena, budget};

	if (node_is_unset(patch) || !node_is_map(template))
		return template;
	return merge(&merger, template, patch);
}
