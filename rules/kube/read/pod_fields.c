/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The PodSpec of a kind that has fields in place of a template, as its operator
 * makes it: the rows `fields=` of data/kinds.txt. The parent of every value is
 * a copy of the author's node (node_is_view()), whose place is its own. The
 * other fields of the kind are kept beside it, for the operator's functions.
 */
#include "rules/kube/operator.h"

#include <string.h>

struct maker {
	struct arena *arena;
	uint32_t *budget;
	const struct node *holder;
	struct node *spec, *box;
};

/* The node under that key. */
static struct node view_of(struct arena *arena, const struct node *node,
			   const char *key)
{
	struct node view = *node, *parent = ARENA_NEW(arena, struct node);

	*parent = *node;
	view.key = key;
	view.key_len = (uint32_t)strlen(key);
	view.tag = node_tag(key, view.key_len);
	view.index = 0;
	view.next = NULL;
	view.parent = parent;
	view.key_start = 1;
	view.key_end = 0;
	return view;
}

/* The child of that key, made if it is not there. */
static struct node *inner_map(struct maker *maker, struct node *map,
			      const char *key)
{
	struct node view;

	for (struct node *child = map->first; child; child = child->next)
		if (child->key && !strcmp(child->key, key))
			return child;
	view = view_of(maker->arena, merge_hollow(maker->arena, maker->holder),
		       key);
	merge_add(maker->arena, maker->budget, map, &view);
	return map->last;
}

/* What is there already stays. */
static void put(struct maker *maker, struct node *map, const char *const *to,
		const struct node *node)
{
	struct node view;

	for (; to[1] && map; to++)
		map = inner_map(maker, map, to[0]);
	if (!map || node_get(map, to[0]))
		return;
	view = view_of(maker->arena, node, to[0]);
	merge_add(maker->arena, maker->budget, map, &view);
}

static void put_key(struct maker *maker, const struct node *field)
{
	const char *const to[] = {field->key, NULL};

	put(maker, maker->spec, to, field);
}

/* `repository` and `tag` of a map as one text. */
static const struct node *join(struct arena *arena, const struct node *first,
			       const char *key)
{
	const struct node *second = node_get(first->parent, key);
	struct node *text;

	if (node_is_unset(second) || !node_str(first))
		return first;
	text = ARENA_NEW(arena, struct node);
	*text = *(node_str(second) ? first : second);
	text->str = arena_printf(arena, "%s:%s", first->str,
				 node_str(second) ? second->str : "");
	text->len = (uint32_t)strlen(text->str);
	return text;
}

static bool is_of_box(const struct field_row *row, const struct node *field)
{
	for (; row->from; row++)
		if (row->box && !row->of_group &&
		    !strcmp(row->from[0], field->key))
			return true;
	return false;
}

static void put_row(struct maker *maker, const struct field_row *row,
		    const struct node *group)
{
	const struct node *node =
		path_get(row->of_group ? group : maker->holder, row->from);

	if (node_is_unset(node))
		return;
	if (row->join)
		node = join(maker->arena, node, row->join);
	put(maker, row->box ? maker->box : maker->spec, row->to, node);
}

static const char *name_of(struct arena *arena,
			   const struct pod_builder *builder)
{
	const char *name = builder->row->container;
	const char *star = name ? strchr(name, '*') : NULL;
	const struct node *around = builder->group->parent;
	const char *own = node_str(node_get(around, "name"));

	if (!star)
		return name;
	if (!own)
		own = builder->object->name;
	return own ? arena_printf(arena, "%.*s%s%s", (int)(star - name), name,
				  own, star + 1)
		   : NULL;
}

static void put_name(struct maker *maker, const char *name)
{
	struct node text = *maker->holder;

	if (!name || node_get(maker->box, "name"))
		return;
	text.type = NODE_STRING;
	text.first = text.last = NULL;
	text.map_index = NULL;
	text.str = name;
	text.len = (uint32_t)strlen(name);
	text = view_of(maker->arena, &text, "name");
	merge_add(maker->arena, maker->budget, maker->box, &text);
}

/* The list of its containers: the one that is made. */
static void put_box(struct maker *maker)
{
	struct node *list = inner_map(maker, maker->spec, "containers");

	list->type = NODE_SEQ;
	merge_add(maker->arena, maker->budget, list, maker->box);
}

const struct node *pod_fields_make(struct pod_builder *builder,
				   const struct node *holder)
{
	const struct field_row *rows = builder->row->fields;
	struct maker maker = {builder->arena, &builder->merge_budget, holder,
			      NULL, NULL};

	if (!node_is_map(holder))
		return holder;
	maker.spec = merge_hollow(maker.arena, holder);
	maker.box = merge_hollow(maker.arena, holder);
	for (const struct field_row *row = rows; row->from; row++)
		put_row(&maker, row, builder->group);
	FOR_EACH_CHILD(holder, field)
		if (!is_of_box(rows, field))
			put_key(&maker, field);
	put_name(&maker, name_of(maker.arena, builder));
	put_box(&maker);
	return maker.spec;
}
