/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merges edits. Every edit walks from the root to its target and claims each
 * place: on the way that it is a map or a list, at the target that it has this
 * value or is absent. If two claims contradict each other, all groups of the
 * place are dropped. Because a group is applied as a whole, the merge then
 * restarts without them. Edits are processed by rising depth, so that a place
 * exists before another edit walks through it.
 */
#include "edit_plan.h"

#include <stdlib.h>
#include <string.h>

#include "doc/build.h"
#include "rules/doc/index.h"

/* --- groups -------------------------------------------------------------- */

static struct edit_group *group_of(const struct plan *plan, unsigned group)
{
	return &plan->list->groups[group];
}

static bool left_out(const struct plan *plan, unsigned group)
{
	enum edit_outcome outcome = group_of(plan, group)->outcome;

	return outcome == EDIT_CONFLICT || outcome == EDIT_REFUSED;
}

static void refuse_group(struct plan *plan, unsigned group,
			 const struct node *at, const char *reason)
{
	struct edit_group *refused = group_of(plan, group);

	plan->refused = true;
	if (refused->outcome == EDIT_REFUSED)
		return;
	refused->outcome = EDIT_REFUSED;
	refused->at = at;
	refused->reason = reason;
}

void plan_refuse(struct plan *plan, const struct edit_place *place,
		 const struct node *at, const char *reason)
{
	for (const struct place_owner *owner = place->owners; owner;
	     owner = owner->next) {
		refuse_group(plan, owner->group, at, reason);
		group_of(plan, owner->group)->stays = true;
	}
}

static void contest(struct plan *plan, struct edit_place *place, unsigned group)
{
	struct edit_group *late = group_of(plan, group);

	plan->conflict = place->contested = true;
	late->contested = true;
	late->other = group;
	for (const struct place_owner *owner = place->owners; owner;
	     owner = owner->next) {
		struct edit_group *early = group_of(plan, owner->group);

		if (owner->group == group)
			continue;
		late->other = owner->group;
		if (!early->contested)
			early->other = group;
		early->contested = true;
	}
}

/* --- places -------------------------------------------------------------- */

static void own(struct plan *plan, struct edit_place *place, unsigned group)
{
	struct place_owner *owner;

	if (place->owners && place->owners->group == group)
		return;
	owner = ARENA_NEW(plan->arena, struct place_owner);
	owner->group = group;
	owner->next = place->owners;
	place->owners = owner;
}

/* Claims a place for an edit. Returns false if the edit ends at this place. */
static bool claim(struct plan *plan, struct edit_place *place,
		  enum place_claim wanted, const struct edit *edit)
{
	bool remover = edit->kind == EDIT_REMOVE;
	bool removers = !place->owners || place->removers;

	own(plan, place, edit->group);
	place->removers = removers && remover;
	if (place->contested) {
		contest(plan, place, edit->group);
		return false;
	}
	if (place->claim == CLAIM_NONE || place->claim == wanted) {
		place->claim = wanted;
		return true;
	}
	if (place->claim == CLAIM_GONE && remover)
		return false;
	if (wanted == CLAIM_GONE && removers) {
		place->claim = wanted;
		return true;
	}
	contest(plan, place, edit->group);
	return false;
}

static struct edit_place *
add_place(struct plan *plan, struct edit_place *parent, const struct node *old)
{
	struct edit_place *place = ARENA_NEW(plan->arena, struct edit_place);

	place->old = old;
	place->state = old ? PLACE_KEPT : PLACE_NEW;
	place->parent = parent;
	if (old) {
		place->key = old->key;
		place->key_len = old->key_len;
		if (parent->beyond <= old->index)
			parent->beyond = old->index + 1;
	}
	if (parent->last)
		parent->last->next = place;
	else
		parent->first = place;
	parent->last = place;
	return place;
}

/*
 * Finds or creates the place of an existing child. Findings, and edits of one
 * depth, are in the document's order, so that the place is usually the last one
 * found or the next one.
 */
static struct edit_place *place_of(struct plan *plan, struct edit_place *parent,
				   const struct node *old)
{
	struct edit_place *place = NULL;

	if (old->index < parent->beyond) {
		place = parent->recent;
		while (place && place->old != old)
			place = place->next;
		if (!place)
			place = parent->first;
		while (place && place->old != old)
			place = place->next;
	}
	if (!place)
		place = add_place(plan, parent, old);
	parent->recent = place;
	return place;
}

static bool has_key(const struct edit_place *place, const char *key, size_t len)
{
	return place->key_len == len && place->key &&
	       !memcmp(place->key, key, len);
}

static struct edit_place *find_key(struct plan *plan, struct edit_place *map,
				   const char *key, size_t len)
{
	const struct node *old = NULL;

	if (map->last && has_key(map->last, key, len))
		return map->last;
	for (struct edit_place *place = map->first; place; place = place->next)
		if (has_key(place, key, len))
			return place;
	if (map->state == PLACE_KEPT && map->old && map->old->type == NODE_MAP)
		old = node_lookup(map->old, key, len);
	return old ? add_place(plan, map, old) : NULL;
}

static struct edit_place *make_key(struct plan *plan, struct edit_place *map,
				   const char *key, size_t len)
{
	struct edit_place *place = find_key(plan, map, key, len);

	if (place)
		return place;
	place = add_place(plan, map, NULL);
	place->key = key;
	place->key_len = len;
	return place;
}

/* Returns the value of a key: a scalar of a new map, any node of an old one. */
static const struct node *value_of(struct plan *plan, struct edit_place *map,
				   const char *key, size_t len)
{
	struct edit_place *place;

	if (map->old)
		return map->old->type == NODE_MAP
			       ? node_lookup(map->old, key, len)
			       : NULL;
	place = find_key(plan, map, key, len);
	return place && place->claim == CLAIM_LEAF ? place->leaf : NULL;
}

/* --- walking ------------------------------------------------------------- */

static const char *wrong_type(const struct node *node, enum place_claim wanted)
{
	bool map = wanted == CLAIM_MAP;

	if (node->flags & NODE_UNKNOWN)
		return "the value is filled in later";
	if (node->type == NODE_MAP)
		return "expected a list, found a map";
	if (node->type == NODE_SEQ)
		return "expected a map, found a list";
	return map ? "expected a map, found a single value"
		   : "expected a list, found a single value";
}

/* Makes the place a map or list. Returns false if it cannot become one. */
static bool enter(struct plan *plan, struct edit_place *place,
		  enum place_claim wanted, const struct edit *edit)
{
	enum node_type type = wanted == CLAIM_MAP ? NODE_MAP : NODE_SEQ;
	const struct node *old = place->old;

	if (place->state == PLACE_KEPT &&
	    (old->type != type || old->flags & NODE_UNKNOWN)) {
		bool null = node_is_unset(old);

		if (edit->kind == EDIT_REMOVE && !node_is_unknown(old))
			return false;
		if (!null) {
			refuse_group(plan, edit->group, old,
				     wrong_type(old, wanted));
			return false;
		}
		if (!claim(plan, place, wanted, edit))
			return false;
		place->state = PLACE_REPLACED;
		return true;
	}
	return claim(plan, place, wanted, edit);
}

static struct edit_place *step_key(struct plan *plan, struct edit_place *place,
				   const struct edit *edit,
				   const struct edit_step *step)
{
	bool last = step == &edit->path.steps[edit->path.nsteps - 1];

	if (!enter(plan, place, CLAIM_MAP, edit))
		return NULL;
	if (edit->kind == EDIT_REMOVE && !last)
		return find_key(plan, place, step->key, step->key_len);
	return make_key(plan, place, step->key, step->key_len);
}

static struct edit_place *match_new(struct plan *plan, struct edit_place *list,
				    const struct edit_step *step)
{
	for (struct edit_place *item = list->first; item; item = item->next) {
		const struct node *value;

		if (item->old || item->claim != CLAIM_MAP)
			continue;
		value = value_of(plan, item, step->key, step->key_len);
		if (value && node_same(value, step->value))
			return item;
	}
	return NULL;
}

static struct edit_place *step_match(struct plan *plan, struct edit_place *list,
				     const struct edit *edit,
				     const struct edit_step *step)
{
	const struct node *old = list->state == PLACE_KEPT ? list->old : NULL;
	const struct node *unknown = NULL;
	struct edit_place *found;

	for (const struct node *item = old ? old->first : NULL; item;
	     item = item->next) {
		const struct node *value = NULL;

		if (item->type == NODE_MAP)
			value = node_lookup(item, step->key, step->key_len);
		if (node_is_unknown(item) || node_is_unknown(value))
			unknown = item;
		else if (value && node_same(value, step->value))
			return place_of(plan, list, item);
	}
	found = match_new(plan, list, step);
	if (!found && unknown)
		refuse_group(plan, edit->group, unknown,
			     "the item's identity is filled in later");
	else if (!found && edit->kind != EDIT_REMOVE)
		refuse_group(plan, edit->group, old, "the item does not exist");
	return found;
}

static struct edit_place *step_index(struct plan *plan, struct edit_place *list,
				     const struct edit *edit,
				     const struct edit_step *step)
{
	const struct node *item = NULL;

	if (list->state == PLACE_KEPT) {
		item = list->old->first;
		if (list->recent && list->recent->old &&
		    list->recent->old->index <= step->index)
			item = list->recent->old;
	}
	while (item && item->index < step->index)
		item = item->next;
	if (item)
		return place_of(plan, list, item);
	if (edit->kind != EDIT_REMOVE)
		refuse_group(plan, edit->group, list->old,
			     "the item does not exist");
	return NULL;
}

static struct edit_place *take_step(struct plan *plan, struct edit_place *place,
				    const struct edit *edit, size_t i)
{
	const struct edit_step *step = &edit->path.steps[i];

	if (step->kind == EDIT_STEP_KEY)
		return step_key(plan, place, edit, step);
	if (!enter(plan, place, CLAIM_SEQ, edit))
		return NULL;
	if (step->kind == EDIT_STEP_MATCH)
		return step_match(plan, place, edit, step);
	return step_index(plan, place, edit, step);
}

/* --- the three edits ----------------------------------------------------- */

static void set_leaf(struct plan *plan, struct edit_place *place,
		     const struct node *value, const struct edit *edit)
{
	if (!claim(plan, place, CLAIM_LEAF, edit))
		return;
	if (place->leaf && !node_same(place->leaf, value)) {
		contest(plan, place, edit->group);
		return;
	}
	place->leaf = value;
	if (!place->old)
		return;
	if (node_is_unknown(place->old))
		refuse_group(plan, edit->group, place->old,
			     "the value is filled in later");
	else if (!node_same(place->old, value))
		place->state = PLACE_REPLACED;
}

static void set_value(struct plan *plan, struct edit_place *place,
		      const struct node *value, const struct edit *edit)
{
	if (value->type != NODE_MAP) {
		set_leaf(plan, place, value, edit);
		return;
	}
	if (node_is_unknown(place->old)) {
		refuse_group(plan, edit->group, place->old,
			     "the value is filled in later");
		return;
	}
	if (!claim(plan, place, CLAIM_MAP, edit))
		return;
	if (place->old && place->old->type != NODE_MAP)
		place->state = PLACE_REPLACED;
	FOR_EACH_CHILD(value, child) {
		struct edit_place *at =
			make_key(plan, place, child->key, child->key_len);

		set_value(plan, at, child, edit);
	}
}

enum match {
	MATCH_NO,
	MATCH_YES,
	MATCH_UNKNOWN,
};

/* Compares two items by the keys "a,b,c"; if keys is NULL, as a whole. */
static enum match match_item(const struct node *a, const struct node *b,
			     const char *keys)
{
	enum match match = MATCH_YES;

	if (node_is_unknown(a))
		return MATCH_UNKNOWN;
	if (!keys || a->type != NODE_MAP || b->type != NODE_MAP)
		return node_same(a, b) ? MATCH_YES : MATCH_NO;
	for (size_t len; *keys; keys += len + (keys[len] == ',')) {
		const struct node *x, *y;

		len = strcspn(keys, ",");
		x = node_lookup(a, keys, len);
		y = node_lookup(b, keys, len);
		if (node_is_unknown(x))
			match = MATCH_UNKNOWN;
		else if (node_is_unset(x) != node_is_unset(y) ||
			 (!node_is_unset(x) && !node_same(x, y)))
			return MATCH_NO;
	}
	return match;
}

/* Returns true if an existing item matches or may match: none is appended. */
static bool ensure_old(struct plan *plan, struct edit_place *list,
		       const struct edit *edit)
{
	const struct node *unknown = NULL;

	FOR_EACH_CHILD(list->old, item) {
		enum match match = match_item(item, edit->value, edit->keys);

		if (match == MATCH_UNKNOWN)
			unknown = item;
		if (match != MATCH_YES)
			continue;
		if (item->type == NODE_MAP)
			claim(plan, place_of(plan, list, item), CLAIM_MAP,
			      edit);
		else
			set_leaf(plan, place_of(plan, list, item), item, edit);
		return true;
	}
	if (unknown)
		refuse_group(plan, edit->group, unknown,
			     "the item's identity is filled in later");
	return unknown;
}

static void ensure_item(struct plan *plan, struct edit_place *list,
			const struct edit *edit)
{
	struct edit_place *item;

	if (!enter(plan, list, CLAIM_SEQ, edit))
		return;
	if (list->state == PLACE_KEPT && ensure_old(plan, list, edit))
		return;
	for (item = list->first; item; item = item->next)
		if (item->item &&
		    match_item(item->item, edit->value, edit->keys))
			break;
	if (!item) {
		item = add_place(plan, list, NULL);
		item->item = edit->value;
	} else if (!node_same(item->item, edit->value)) {
		own(plan, item, edit->group);
		contest(plan, item, edit->group);
		return;
	}
	set_value(plan, item, edit->value, edit);
}

static void remove_place(struct plan *plan, struct edit_place *place,
			 const struct edit *edit)
{
	if (claim(plan, place, CLAIM_GONE, edit))
		place->state = PLACE_REMOVED;
}

/* Removes all matching items, so that applying the edit twice has the same
 * effect. */
static void remove_matches(struct plan *plan, struct edit_place *list,
			   const struct edit *edit)
{
	const struct edit_step *step = &edit->path.steps[edit->path.nsteps - 1];
	struct edit_place *first = step_match(plan, list, edit, step);

	if (first)
		remove_place(plan, first, edit);
	FOR_EACH_CHILD(first && first->old ? list->old : NULL, item) {
		const struct node *value = NULL;

		if (item->type == NODE_MAP)
			value = node_lookup(item, step->key, step->key_len);
		if (value && !node_is_unknown(value) &&
		    node_same(value, step->value))
			remove_place(plan, place_of(plan, list, item), edit);
	}
}

static void run_edit(struct plan *plan, const struct edit *edit)
{
	struct edit_place *place = &plan->root;
	const size_t n = edit->path.nsteps;
	bool matches = edit->kind == EDIT_REMOVE && n &&
		       edit->path.steps[n - 1].kind == EDIT_STEP_MATCH;

	for (size_t i = 0; place && i < n - matches; i++)
		place = take_step(plan, place, edit, i);
	if (!place)
		return;
	if (matches) {
		if (enter(plan, place, CLAIM_SEQ, edit))
			remove_matches(plan, place, edit);
		return;
	}
	if (!place->parent && edit->kind != EDIT_ENSURE)
		refuse_group(plan, edit->group, place->old,
			     "a whole document cannot be set or removed");
	else if (edit->kind == EDIT_SET)
		set_value(plan, place, edit->value, edit);
	else if (edit->kind == EDIT_ENSURE)
		ensure_item(plan, place, edit);
	else
		remove_place(plan, place, edit);
}

/* --- rounds -------------------------------------------------------------- */

static int by_depth(const void *a, const void *b)
{
	const struct edit *x = *(const struct edit *const *)a;
	const struct edit *y = *(const struct edit *const *)b;

	if (x->path.nsteps != y->path.nsteps)
		return x->path.nsteps < y->path.nsteps ? -1 : 1;
	return x < y ? -1 : x > y;
}

static const struct edit **sort_edits(struct arena *arena,
				      const struct edit_list *list)
{
	const struct edit **sorted =
		ARENA_ARRAY(arena, const struct edit *, list->nedits);

	for (size_t i = 0; i < list->nedits; i++)
		sorted[i] = &list->edits[i];
	if (list->nedits)
		qsort(sorted, list->nedits, sizeof(*sorted), by_depth);
	return sorted;
}

static void run_round(struct plan *plan, const struct node *root,
		      const struct edit **sorted)
{
	struct edit_list *list = plan->list;

	plan->root = (struct edit_place){.old = root};
	plan->refused = plan->conflict = false;
	for (size_t i = 0; i < list->ngroups; i++)
		list->groups[i].contested = list->groups[i].changes = false;
	for (size_t i = 0; i < list->nedits; i++)
		if (!left_out(plan, sorted[i]->group))
			run_edit(plan, sorted[i]);
}

static void find_changes(const struct plan *plan,
			 const struct edit_place *place)
{
	bool changed = place->state != PLACE_KEPT &&
		       (place->old || place->state != PLACE_REMOVED);

	for (const struct place_owner *owner = place->owners; changed && owner;
	     owner = owner->next)
		group_of(plan, owner->group)->changes = true;
	for (const struct edit_place *child = place->first; child;
	     child = child->next)
		find_changes(plan, child);
}

void plan_make(struct plan *plan, struct edit_list *list,
	       const struct node *root, struct arena *arena)
{
	const struct edit **sorted = sort_edits(arena, list);

	*plan = (struct plan){.arena = arena, .list = list};
	for (size_t i = 0; i < list->ngroups; i++)
		if (!list->groups[i].stays)
			list->groups[i].outcome = EDIT_DONE;
	do {
		run_round(plan, root, sorted);
		/* A rejected group does not count as a contradiction. */
		for (size_t i = 0; !plan->refused && i < list->ngroups; i++)
			if (list->groups[i].contested)
				list->groups[i].outcome = EDIT_CONFLICT;
	} while (plan->refused || plan->conflict);
	find_changes(plan, &plan->root);
	for (size_t i = 0; i < list->ngroups; i++)
		if (!left_out(plan, (unsigned)i) && !list->groups[i].changes)
			list->groups[i].outcome = EDIT_NEEDLESS;
	plan_drop_emptied(&plan->root);
}
