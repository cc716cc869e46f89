/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generates the PodSpec of a kind that has separate fields in place of a pod
 * template, as its operator does, from the rows `fields=` of data/kinds.txt.
 * Each value is a copy of the author's node under another key (node_is_view());
 * its parent is a second copy of that node, at the same position. Other fields
 * of the kind remain available to the operator's functions.
 */
#include "rules/kube/operator.h"

#include <string.h>

struct maker {
	struct arena *arena;
	uint32_t *budget;
	const struct node *holder, *group, *root;
	struct node *spec, *box;
};

struct node node_view(struct arena *arena, const struct node *node,
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
	view.key_start = VIEW_MERGES;
	view.key_end = 0;
	return view;
}

static struct node *child_of(struct node *map, const char *key)
{
	for (struct node *child = map->first; child; child = child->next)
		if (child->key && !strcmp(child->key, key))
			return child;
	return NULL;
}

/* Returns the child under that key, which is created if it is missing; NULL if
 * it is a node of the author. */
static struct node *inner_map(struct maker *maker, struct node *map,
			      const char *key)
{
	struct node *child = child_of(map, key);
	struct node view;

	if (child)
		return child->key_start == VIEW_OF_NONE ? child : NULL;
	view = node_view(maker->arena,
			 merge_hollow(maker->arena, maker->holder), key);
	view.key_start = VIEW_OF_NONE;
	merge_add(maker->arena, maker->budget, map, &view);
	return child_of(map, key);
}

static void replace(struct node *child, const struct node *by)
{
	struct node *next = child->next;

	*child = *by;
	child->next = next;
}

/* True if both nodes are the same value of the manifest, as when two rows read
 * one field. */
static bool is_same(const struct node *a, const struct node *b)
{
	return a->first == b->first && a->str == b->str && a->start == b->start;
}

/* Adds a field at the path `to` below the generated map, or merges it with the
 * value there. */
static void put_field(struct maker *maker, struct node *map,
		      const char *const *to, const struct node *node,
		      enum view_merge how)
{
	struct node view, *child;

	for (; to[1] && map; to++)
		map = inner_map(maker, map, to[0]);
	if (!map)
		return;
	view = node_view(maker->arena, node, to[0]);
	view.key_start = how;
	child = child_of(map, to[0]);
	if (child && is_same(child, &view))
		return;
	if (child)
		replace(child,
			value_merge(maker->arena, maker->budget, &view, child));
	else
		merge_add(maker->arena, maker->budget, map, &view);
}

static void put_key(struct maker *maker, struct node *map,
		    const struct node *field)
{
	const char *const to[] = {field->key, NULL};

	if (field->key) /* an item of a list has no key */
		put_field(maker, map, to, field, VIEW_MERGES);
}

/* Copies the list and adds the value of the key to each item as mountPath. */
static const struct node *rename_items(struct maker *maker,
				       const struct node *list, const char *key)
{
	struct node *out = merge_hollow(maker->arena, list);

	FOR_EACH_CHILD(list, item) {
		struct node *copy = merge_hollow(maker->arena, item);
		const struct node *value = node_get(item, key);
		struct node view;

		FOR_EACH_CHILD(item, field)
			merge_add(maker->arena, maker->budget, copy, field);
		if (value && node_is_map(item)) {
			view = node_view(maker->arena, value, "mountPath");
			merge_add(maker->arena, maker->budget, copy, &view);
		}
		merge_add(maker->arena, maker->budget, out, copy);
	}
	return out;
}

/* Returns the text of first and of the field `key` beside it, joined by a colon
 * (repository and tag); only first if the field is not set. */
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
		if (row->box && row->base == FIELD_OF_POD &&
		    !strcmp(row->from[0], field->key))
			return true;
	return false;
}

/* Returns a container without fields, at the position of the kind's complete
 * container, or else of the holder. */
static struct node *hollow_box(const struct maker *maker,
			       const struct field_row *row)
{
	const struct node *box = row->box && !row->to
					 ? path_get(maker->holder, row->from)
					 : NULL;

	return merge_hollow(maker->arena,
			    node_is_map(box) ? box : maker->holder);
}

static void put_row(struct maker *maker, const struct field_row *row)
{
	const struct node *const bases[] = {
		[FIELD_OF_POD] = maker->holder,
		[FIELD_OF_GROUP] = maker->group,
		[FIELD_OF_OBJECT] = maker->root,
	};
	const struct node *node = path_get(bases[row->base], row->from);
	struct node *map = row->box ? maker->box : maker->spec;

	if (node_is_unset(node))
		return;
	if (row->join && node_is_seq(node))
		node = rename_items(maker, node, row->join);
	else if (row->join)
		node = join(maker->arena, node, row->join);
	if (row->to)
		put_field(maker, map, row->to, node, row->merge);
	else if (too_many(maker->arena, node, node))
		map->flags |= NODE_UNKNOWN;
	else
		FOR_EACH_CHILD(node, field)
			put_key(maker, map, field);
}

bool has_container(const struct node *template, const char *name)
{
	FOR_EACH_CHILD(node_get(template, "containers"), c)
		if (node_eq(node_get(c, "name"), name))
			return true;
	return false;
}

static const char *name_of(struct arena *arena,
			   const struct pod_builder *builder,
			   const struct node *template)
{
	const char *name = builder->row->container;
	const char *star = name ? strchr(name, '*') : NULL;
	const struct node *around = builder->group->parent;
	const struct node *first = node_at(node_get(template, "containers"), 0);
	const char *own = node_str(node_get(around, "name"));

	if (builder->row->or_first && !has_container(template, name) &&
	    node_str(node_get(first, "name")))
		return node_str(node_get(first, "name"));
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
	struct node text;

	if (!name || node_get(maker->box, "name"))
		return;
	text = node_view(maker->arena, maker->box, "name");
	text.type = NODE_STRING;
	text.first = text.last = NULL;
	text.map_index = NULL;
	text.str = name;
	text.len = (uint32_t)strlen(name);
	merge_add(maker->arena, maker->budget, maker->box, &text);
}

/* Adds the list of containers: those of the kind, and the generated one. */
static void put_box(struct maker *maker)
{
	struct node *list, *own;

	if (!node_first(maker->box)) /* no row has a field of a container */
		return;
	list = inner_map(maker, maker->spec, "containers");
	own = child_of(maker->spec, "containers");
	if (!list) {
		if (!node_is_seq(own))
			return;
		list = merge_hollow(maker->arena, own);
		FOR_EACH_CHILD(own, item)
			merge_add(maker->arena, maker->budget, list, item);
	}
	list->type = NODE_SEQ;
	merge_add(maker->arena, maker->budget, list, maker->box);
	if (list != own)
		replace(own, list);
}

/* Appends the tolerations to those of the template, as operators do, because
 * the list lacks a merge key. */
static void add_tolerations(struct maker *maker, const struct node *template)
{
	const struct node *more = node_get(template, "tolerations");
	struct node *own = child_of(maker->spec, "tolerations"), *all;

	if (!own || !node_is_seq(own) || !node_is_seq(more))
		return;
	all = merge_hollow(maker->arena, own);
	FOR_EACH_CHILD(more, item)
		merge_add(maker->arena, maker->budget, all, item);
	FOR_EACH_CHILD(own, item)
		merge_add(maker->arena, maker->budget, all, item);
	replace(own, all);
}

static const struct node *template_of(struct pod_builder *builder,
				      const struct node *holder)
{
	builder->base = NULL;
	if (builder->row->based)
		return builder_operator(builder)->base(builder, holder);
	return builder->row->inner ? path_get(holder, builder->row->inner)
				   : NULL;
}

/* Returns the PodSpec for a row with `below`: the generated fields, with the
 * holder merged over them. NULL if no field is set. */
static const struct node *made_below(struct maker *maker, const char *name,
				     const struct node *holder)
{
	if (!node_first(maker->spec) && !node_first(maker->box))
		return NULL;
	put_name(maker, name);
	put_box(maker);
	return template_merge(maker->arena, maker->budget, maker->spec, holder);
}

const struct node *pod_fields_make(struct pod_builder *builder,
				   const struct node *holder)
{
	const struct field_row *rows = builder->row->fields;
	const struct node *template = template_of(builder, holder);
	struct maker maker = {.arena = builder->arena,
			      .budget = &builder->merge_budget,
			      .holder = holder,
			      .group = builder->group,
			      .root = builder->object->merged};

	if (builder->row->based && !node_is_map(template))
		return NULL;
	if (!rows)
		return template_merge(maker.arena, maker.budget, template,
				      holder);
	if (!node_is_map(holder) || node_is_unknown(template))
		return holder;
	maker.spec = merge_hollow(maker.arena, holder);
	maker.box = hollow_box(&maker, rows);
	if (too_many(maker.arena, holder, holder)) {
		maker.spec->flags |= NODE_UNKNOWN;
		return maker.spec;
	}
	for (const struct field_row *row = rows; row->from; row++)
		put_row(&maker, row);
	if (builder->row->below)
		return made_below(&maker, builder->row->container, holder);
	FOR_EACH_CHILD(holder, field)
		if (!is_of_box(rows, field) &&
		    !node_get(maker.spec, field->key))
			put_key(&maker, maker.spec, field);
	put_name(&maker, name_of(maker.arena, builder, template));
	put_box(&maker);
	if (!node_is_map(template))
		return maker.spec;
	if (!builder->row->based)
		add_tolerations(&maker, template);
	return template_merge(maker.arena, maker.budget, template, maker.spec);
}
