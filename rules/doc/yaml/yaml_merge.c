/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Anchors, aliases and merge keys as in go-yaml v2. An alias is a deep copy of
 * the anchor's value as it was when that value ended. A merge overrides keys
 * written before it and is overridden by keys written after it (by the YAML
 * specification and in other readers, written keys always have precedence). In
 * a list of merges, the first map has precedence.
 *
 * Anchors are kept as children of a map node, whose index finds them by name.
 */
#include <string.h>

#include "doc/build.h"
#include "yaml.h"

struct anchor *yaml_anchor(struct yaml *yaml, const char *name,
			   struct node *target)
{
	size_t len = strlen(name);
	struct node *entry = node_find(yaml->arena, &yaml->anchors, name, len);
	struct anchor *anchor;

	if (entry) {
		/* entry is the first member of struct anchor */
		anchor = (struct anchor *)entry;
	} else {
		anchor = ARENA_NEW(yaml->arena, struct anchor);
		anchor->entry.key = arena_strndup(yaml->arena, name, len);
		anchor->entry.key_len = (uint32_t)len;
		node_append(&yaml->anchors, &anchor->entry);
	}
	anchor->target = target;
	anchor->value = (struct scalar){.kind = SCALAR_NULL};
	anchor->decodes = 1;
	anchor->height = 0;
	return anchor;
}

static bool is_collection(const struct node *node)
{
	return node->type == NODE_MAP || node->type == NODE_SEQ;
}

/* Returns the share of decoded values that may come from aliases, as in
 * go-yaml. */
static double alias_share(uint64_t decodes)
{
	const double low = 400000, high = 4000000;

	if ((double)decodes <= low)
		return 0.99;
	if ((double)decodes >= high)
		return 0.10;
	return 0.99 - 0.89 * (((double)decodes - low) / (high - low));
}

static bool count_alias(struct yaml *yaml, uint64_t decodes,
			const struct load_issue *at)
{
	yaml->decodes += 1 + decodes;
	yaml->alias_decodes += decodes;
	if (yaml->alias_decodes <= 100 || yaml->decodes <= 1000 ||
	    (double)yaml->alias_decodes / (double)yaml->decodes <=
		    alias_share(yaml->decodes))
		return true;
	return yaml_issue(yaml, at, "aliases make up too much of the document");
}

static struct anchor *find_anchor(struct yaml *yaml, const char *name,
				  const struct load_issue *at)
{
	struct anchor *anchor = (struct anchor *)node_find(
		yaml->arena, &yaml->anchors, name, strlen(name));
	uint32_t limit = yaml->loader->limits->depth;
	uint32_t height;

	if (!anchor) {
		yaml_issue(yaml, at,
			   "anchor &%.100s is not defined before this alias",
			   name);
		return NULL;
	}
	/* The end of a value is set when it is complete. */
	if (is_collection(anchor->target) && !anchor->target->end) {
		yaml_issue(yaml, at, "anchor &%.100s contains itself", name);
		return NULL;
	}
	/* A merge adds only the entries of the map, not the map itself. */
	height = anchor->height;
	height -= height && yaml->nframes &&
		  yaml->frames[yaml->nframes - 1].state == WANT_MERGE;
	if (yaml->nframes + height > limit) {
		yaml_issue(yaml, at, "nested deeper than %u levels", limit);
		return NULL;
	}
	yaml_raise(yaml, height);
	return count_alias(yaml, anchor->decodes, at) ? anchor : NULL;
}

static bool alias_key(struct yaml *yaml, struct frame *frame,
		      const struct anchor *anchor, const struct load_issue *at)
{
	const struct node *target = anchor->target;

	if (is_collection(target))
		return yaml_issue(yaml, at, "a %s cannot be a key",
				  target->type == NODE_MAP ? "map" : "list");
	/* Strings are decoded already, including !!binary. */
	if (target->type == NODE_STRING) {
		frame->key = target->str;
		frame->key_len = target->len;
	} else {
		yaml_key(yaml, frame, &anchor->value, target->str, target->len);
	}
	frame->key_start = at->start;
	frame->key_end = at->end;
	frame->state = WANT_VALUE;
	return true;
}

static struct node *copy(struct yaml *yaml, const struct node *node,
			 unsigned flag, const struct load_issue *at)
{
	struct node *made =
		node_copy(yaml->arena, node, flag, &yaml->nodes_left);

	if (made) {
		made->flags &= (uint8_t)~NODE_ANCHORED;
		return made;
	}
	yaml->loader->costly = true;
	yaml_issue(yaml, at, "more than %u values after aliases are expanded",
		   yaml->nodes_max);
	return NULL;
}

bool yaml_alias(struct yaml *yaml, const char *name, uint32_t start,
		uint32_t end)
{
	struct load_issue at = {
		.kind = LOAD_SYNTAX, .start = start, .end = end};
	struct frame *frame =
		yaml->nframes ? &yaml->frames[yaml->nframes - 1] : NULL;
	struct anchor *anchor = find_anchor(yaml, name, &at);
	struct node *node, *made;

	if (!anchor)
		return false;
	yaml->last_end = end;
	if (frame && frame->state == WANT_KEY)
		return alias_key(yaml, frame, anchor, &at);
	if (frame && frame->state == WANT_MERGE) {
		frame->state = WANT_KEY;
		if (anchor->target->type != NODE_MAP)
			return yaml_refuse_merge(yaml, start, end);
		return yaml_merge(yaml, anchor->target, NODE_ALIASED);
	}
	made = copy(yaml, anchor->target, NODE_ALIASED, &at);
	node = made ? yaml_place(yaml, start) : NULL;
	if (!node)
		return false;
	yaml_graft(node, made);
	return true;
}

bool yaml_refuse_merge(struct yaml *yaml, uint32_t start, uint32_t end)
{
	return yaml_refuse(yaml, start, end,
			   "a merge (<<) needs a map or a list of maps");
}

/* Reports that the merge overrides an earlier key of the map. */
static void report_override(struct yaml *yaml, const struct frame *frame,
			    const struct node *old)
{
	struct load_issue issue = {
		.kind = LOAD_DISAGREEMENT,
		.start = frame->key_start,
		.end = frame->key_end,
	};

	yaml_issue(yaml, &issue,
		   "kubectl lets this merge replace \"%.100s\" of line %u, "
		   "other readers do not: write << first",
		   old->key, yaml_line(yaml, old->key_start));
}

static bool merge_member(struct yaml *yaml, struct frame *frame,
			 const struct node *from, unsigned flag)
{
	struct load_issue at = {
		.kind = LOAD_SYNTAX,
		.start = frame->key_start,
		.end = frame->key_end,
	};
	struct node *made = copy(yaml, from, flag, &at);
	struct node *old;

	if (!made)
		return false;
	old = yaml_member(yaml, frame, from->key, from->key_len);
	if (!old) {
		node_append(frame->node, made);
		return true;
	}
	if (!(old->flags & NODE_MERGED))
		report_override(yaml, frame, old);
	old = yaml_replace(yaml, frame, old);
	if (!old)
		return false;
	yaml_graft(old, made);
	old->key_start = made->key_start;
	old->key_end = made->key_end;
	return true;
}

static bool merge_map(struct yaml *yaml, const struct node *map, unsigned flag)
{
	struct frame *frame = &yaml->frames[yaml->nframes - 1];

	for (const struct node *child = map->first; child; child = child->next)
		if (!merge_member(yaml, frame, child, flag | NODE_MERGED))
			return false;
	return true;
}

bool yaml_merge(struct yaml *yaml, const struct node *value, unsigned flag)
{
	const struct node **items;
	size_t n = 0;

	if (value->type == NODE_MAP)
		return merge_map(yaml, value, flag);
	items = ARENA_ARRAY(yaml->arena, const struct node *, value->len);
	for (const struct node *item = value->first; item; item = item->next) {
		if (item->type != NODE_MAP)
			return yaml_refuse_merge(yaml, item->start, item->end);
		items[n++] = item;
	}
	/* The first map is merged last, so that it overrides the others. */
	while (n--)
		if (!merge_map(yaml, items[n], flag))
			return false;
	return true;
}
