/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records edits: builds values and paths and appends to the list. edit_plan.c
 * checks and merges the edits.
 */
#include "doc/edit.h"

#include <string.h>

#include "base/array.h"
#include "doc/build.h"
#include "rules/doc/index.h"

/* --- values -------------------------------------------------------------- */

static struct node *scalar(struct arena *arena, enum node_type type,
			   const char *text)
{
	struct node *node = node_new(arena, type);

	node->len = (uint32_t)strlen(text);
	node->str = arena_strndup(arena, text, node->len);
	return node;
}

struct node *edit_string(struct arena *arena, const char *text)
{
	return scalar(arena, NODE_STRING, text);
}

struct node *edit_int(struct arena *arena, int64_t value)
{
	struct node *node = node_new(arena, NODE_INT);

	node->str = arena_printf(arena, "%lld", (long long)value);
	node->len = (uint32_t)strlen(node->str);
	return node;
}

struct node *edit_bool(struct arena *arena, bool value)
{
	return scalar(arena, NODE_BOOL, value ? "true" : "false");
}

struct node *edit_map(struct arena *arena)
{
	return node_new(arena, NODE_MAP);
}

struct node *edit_seq(struct arena *arena)
{
	return node_new(arena, NODE_SEQ);
}

struct node *edit_copy(struct arena *arena, const struct node *value)
{
	uint32_t budget = UINT32_MAX;
	struct node *copy = node_copy(arena, value, 0, &budget);

	copy->key = NULL;
	return copy;
}

struct node *edit_member(struct arena *arena, struct node *map, const char *key,
			 struct node *value)
{
	value->key_len = (uint32_t)strlen(key);
	value->key = arena_strndup(arena, key, value->key_len);
	node_append(map, value);
	return map;
}

struct node *edit_member_string(struct arena *arena, struct node *map,
				const char *key, const char *text)
{
	return edit_member(arena, map, key, edit_string(arena, text));
}

struct node *edit_item(struct node *seq, struct node *value)
{
	node_append(seq, value);
	return seq;
}

/* --- paths --------------------------------------------------------------- */

static void add_step(struct edit_path *path, const struct edit_step *step)
{
	struct edit_step *steps =
		ARENA_ARRAY(path->arena, struct edit_step, path->nsteps + 1);

	if (path->nsteps)
		memcpy(steps, path->steps, path->nsteps * sizeof(*steps));
	steps[path->nsteps++] = *step;
	path->steps = steps;
}

enum {
	NAMED_MAX = 1000, /* items of longer lists are addressed by index */
};

/* Returns the item's name; NULL if another item of the list has, or may have,
 * the same name, or if the list is longer than NAMED_MAX. */
static const struct node *own_name(const struct node *item)
{
	const struct node *name = node_get(item, "name");

	if (!node_str(name) || item->parent->len > NAMED_MAX)
		return NULL;
	FOR_EACH_CHILD(item->parent, other) {
		const struct node *its = node_get(other, "name");

		if (other != item &&
		    (node_is_unknown(its) || node_same(its, name)))
			return NULL;
	}
	return name;
}

static struct edit_step step_to(const struct node *node)
{
	struct edit_step step = {.kind = EDIT_STEP_KEY};

	if (node->parent->type == NODE_MAP) {
		step.key = node->key;
		step.key_len = node->key_len;
	} else if ((step.value = own_name(node))) {
		step.kind = EDIT_STEP_MATCH;
		step.key = "name";
		step.key_len = 4;
	} else {
		step.kind = EDIT_STEP_INDEX;
		step.index = node->index;
	}
	return step;
}

void edit_path_to(struct edit_path *path, struct arena *arena,
		  const struct node *node)
{
	struct edit_step *steps;
	size_t n = 0;

	*path = (struct edit_path){.arena = arena};
	for (const struct node *at = node; at && at->parent; at = at->parent)
		n++;
	if (!n)
		return;
	path->steps = steps = ARENA_ARRAY(arena, struct edit_step, n);
	path->nsteps = n;
	for (; n; node = node->parent)
		steps[--n] = step_to(node);
}

void edit_path_key(struct edit_path *path, const char *key)
{
	struct edit_step step = {
		.kind = EDIT_STEP_KEY,
		.key = key,
		.key_len = strlen(key),
	};

	add_step(path, &step);
}

void edit_path_match(struct edit_path *path, const char *key, const char *text)
{
	struct edit_step step = {
		.kind = EDIT_STEP_MATCH,
		.key = key,
		.key_len = strlen(key),
		.value = edit_string(path->arena, text),
	};

	add_step(path, &step);
}

void edit_path_index(struct edit_path *path, uint32_t index)
{
	struct edit_step step = {.kind = EDIT_STEP_INDEX, .index = index};

	add_step(path, &step);
}

/* --- the list ------------------------------------------------------------ */

void edit_list_init(struct edit_list *list, struct arena *arena)
{
	*list = (struct edit_list){.arena = arena};
}

unsigned edit_group(struct edit_list *list)
{
	struct edit_group *group = VEC_PUSH(list->arena, list->groups,
					    list->ngroups, list->groups_size);

	*group = (struct edit_group){.outcome = EDIT_DONE};
	return (unsigned)list->ngroups - 1;
}

static struct edit *add_edit(struct edit_list *list, enum edit_kind kind,
			     const struct edit_path *path)
{
	struct edit *edit;

	if (!list->ngroups)
		edit_group(list);
	edit = VEC_PUSH(list->arena, list->edits, list->nedits,
			list->edits_size);
	*edit = (struct edit){
		.kind = kind,
		.path = *path,
		.group = (unsigned)list->ngroups - 1,
	};
	return edit;
}

void edit_set(struct edit_list *list, const struct edit_path *path,
	      const struct node *value)
{
	add_edit(list, EDIT_SET, path)->value = value;
}

void edit_ensure(struct edit_list *list, const struct edit_path *path,
		 const struct node *item, const char *keys)
{
	struct edit *edit = add_edit(list, EDIT_ENSURE, path);

	edit->value = item;
	edit->keys = keys;
}

void edit_remove(struct edit_list *list, const struct edit_path *path)
{
	add_edit(list, EDIT_REMOVE, path);
}
