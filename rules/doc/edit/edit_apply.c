/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Applies a plan to a tree, and writes it as a JSON Patch; removes the keys of
 * lists that become empty. For a list, the patch first changes items, then
 * removes items from the back, then appends items, so that every index refers
 * to the old list.
 */
#include <string.h>

#include "doc/build.h"
#include "edit_plan.h"

/* Removes the keys of lists from which edits remove the last item. */

/* True if all items of a written list are removed and none is added. */
static bool is_emptied(const struct edit_place *list)
{
	uint32_t removed = 0;

	if (list->state != PLACE_KEPT || list->old->type != NODE_SEQ)
		return false;
	for (const struct edit_place *item = list->first; item;
	     item = item->next) {
		if (!item->old)
			return false;
		removed += item->state == PLACE_REMOVED;
	}
	return removed && removed == list->old->len;
}

/* True if the key can be removed: no merged map (<<) would become visible, and
 * no alias would lose its anchor. */
static bool is_plain_entry(const struct node *list)
{
	if (!list->parent || list->parent->type != NODE_MAP ||
	    list->flags & (NODE_ANCHORED | NODE_MERGED))
		return false;
	FOR_EACH_CHILD(list->parent, entry)
		if (entry->flags & NODE_MERGED)
			return false;
	return true;
}

void plan_drop_emptied(struct edit_place *place)
{
	for (struct edit_place *child = place->first; child;
	     child = child->next)
		plan_drop_emptied(child);
	if (is_emptied(place) && is_plain_entry(place->old))
		place->state = PLACE_REMOVED;
}

/* --- tree ---------------------------------------------------------------- */

static void append_place(struct arena *arena, struct node *parent,
			 const struct edit_place *place)
{
	struct node *child = place_build(arena, place);

	if (parent->type == NODE_MAP) {
		child->key = place->key;
		child->key_len = (uint32_t)place->key_len;
	}
	node_append(parent, child);
}

static const struct edit_place **touched(struct arena *arena,
					 const struct edit_place *place)
{
	const struct edit_place **by_index = ARENA_ARRAY(
		arena, const struct edit_place *, place->old->len + 1);

	for (const struct edit_place *child = place->first; child;
	     child = child->next)
		if (child->old)
			by_index[child->old->index] = child;
	return by_index;
}

static struct node *build_kept(struct arena *arena,
			       const struct edit_place *place)
{
	const struct edit_place **by_index = touched(arena, place);
	struct node *made = node_new(arena, place->old->type);

	for (const struct node *old = place->old->first; old; old = old->next) {
		const struct edit_place *at = by_index[old->index];

		if (!at) {
			const char *key = old->key;
			struct node *copy = edit_copy(arena, old);

			copy->key = key;
			node_append(made, copy);
		} else if (at->state != PLACE_REMOVED) {
			append_place(arena, made, at);
		}
	}
	return made;
}

struct node *place_build(struct arena *arena, const struct edit_place *place)
{
	struct node *made;

	if (place->state == PLACE_KEPT) {
		if (!place->first)
			return edit_copy(arena, place->old);
		made = build_kept(arena, place);
	} else if (place->claim == CLAIM_LEAF) {
		return edit_copy(arena, place->leaf);
	} else {
		made = node_new(arena, place->claim == CLAIM_SEQ ? NODE_SEQ
								 : NODE_MAP);
	}
	for (const struct edit_place *child = place->first; child;
	     child = child->next)
		if (child->state == PLACE_NEW)
			append_place(arena, made, child);
	return made;
}

static bool changes(const struct edit_list *list)
{
	for (size_t i = 0; i < list->ngroups; i++)
		if (list->groups[i].outcome == EDIT_DONE)
			return true;
	return false;
}

const struct node *edits_apply(struct edit_list *list, const struct node *root,
			       struct arena *arena)
{
	struct plan plan;

	plan_make(&plan, list, root, arena);
	return changes(list) ? place_build(arena, &plan.root) : root;
}

/* --- JSON Patch ---------------------------------------------------------- */

struct patcher {
	struct arena *arena;
	struct node *operations;
	struct buf path; /* path of the current place */
};

static void add_operation(struct patcher *patcher, const char *op,
			  const struct edit_place *place)
{
	struct arena *arena = patcher->arena;
	struct node *operation = edit_map(arena);
	struct node *path = node_new(arena, NODE_STRING);

	path->len = (uint32_t)patcher->path.len;
	path->str = arena_strndup(arena, patcher->path.data, path->len);
	edit_member_string(arena, operation, "op", op);
	edit_member(arena, operation, "path", path);
	if (place)
		edit_member(arena, operation, "value",
			    place_build(arena, place));
	edit_item(patcher->operations, operation);
}

/* Appends the key or index of a child to the path; returns the length to
 * restore. */
static size_t enter_child(struct patcher *patcher,
			  const struct edit_place *child)
{
	size_t len = patcher->path.len;

	if (child->key)
		pointer_add(&patcher->path, child->key, child->key_len);
	else if (child->old)
		buf_addf(&patcher->path, "/%u", child->old->index);
	else
		buf_adds(&patcher->path, "/-");
	return len;
}

static void leave_child(struct patcher *patcher, size_t len)
{
	patcher->path.len = len;
	patcher->path.data[len] = '\0';
}

static void patch_removed(struct patcher *patcher,
			  const struct edit_place *place)
{
	size_t len = enter_child(patcher, place);

	add_operation(patcher, "remove", NULL);
	leave_child(patcher, len);
}

static void patch_removals(struct patcher *patcher,
			   const struct edit_place *place)
{
	const struct edit_place **by_index = touched(patcher->arena, place);

	for (uint32_t i = place->old->len; i-- > 0;)
		if (by_index[i] && by_index[i]->state == PLACE_REMOVED)
			patch_removed(patcher, by_index[i]);
}

static void patch_place(struct patcher *patcher, const struct edit_place *place)
{
	bool removed = false;
	size_t len;

	if (place->state == PLACE_REPLACED) {
		add_operation(patcher, "replace", place);
		return;
	}
	for (const struct edit_place *child = place->first; child;
	     child = child->next) {
		removed |= child->old && child->state == PLACE_REMOVED;
		if (!child->old || child->state == PLACE_REMOVED)
			continue;
		len = enter_child(patcher, child);
		patch_place(patcher, child);
		leave_child(patcher, len);
	}
	if (removed)
		patch_removals(patcher, place);
	for (const struct edit_place *child = place->first; child;
	     child = child->next) {
		if (child->state != PLACE_NEW)
			continue;
		len = enter_child(patcher, child);
		add_operation(patcher, "add", child);
		leave_child(patcher, len);
	}
}

static struct node *plan_patch(const struct plan *plan, struct arena *arena)
{
	struct patcher patcher = {
		.arena = arena,
		.operations = edit_seq(arena),
	};

	buf_init(&patcher.path);
	patch_place(&patcher, &plan->root);
	buf_release(&patcher.path);
	return patcher.operations;
}

struct node *edits_patch(struct edit_list *list, const struct node *root,
			 struct arena *arena)
{
	struct plan plan;

	plan_make(&plan, list, root, arena);
	return changes(list) ? plan_patch(&plan, arena) : edit_seq(arena);
}

/* --- in place ------------------------------------------------------------ */

/* Applies the changes at a place. Every node that the plan found in the tree
 * still exists, because a value is removed only after its inner parts are
 * changed. */
static void graft(struct arena *arena, const struct edit_place *place)
{
	struct node *node = (struct node *)(uintptr_t)place->old;

	for (const struct edit_place *child = place->first; child;
	     child = child->next) {
		if (child->state == PLACE_KEPT)
			graft(arena, child);
		else if (child->state == PLACE_NEW)
			append_place(arena, node, child);
		else if (child->old && child->state == PLACE_REPLACED)
			node_take((struct node *)(uintptr_t)child->old,
				  place_build(arena, child));
		else if (child->old)
			node_unlink(node, (struct node *)(uintptr_t)child->old);
	}
}

struct node *edits_patch_onto(struct edit_list *list, struct node *root,
			      struct arena *arena)
{
	struct plan plan;
	struct node *operations;

	plan_make(&plan, list, root, arena);
	if (!changes(list))
		return edit_seq(arena);
	operations = plan_patch(&plan, arena);
	graft(arena, &plan.root);
	return operations;
}
