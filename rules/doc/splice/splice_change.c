/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collects the changes below a place, the reasons why they cannot be made, and
 * the splices that make them.
 */
#include <string.h>

#include "base/array.h"
#include "splice_internal.h"

void splice_refuse(struct splicer *splicer, const struct edit_place *place,
		   const char *reason)
{
	const struct edit_place *known = place;

	while (!known->old && known->parent)
		known = known->parent;
	plan_refuse(&splicer->plan, place, known->old, reason);
}

void refuse_changes(struct splicer *splicer, const struct splice_change *change,
		    const char *reason)
{
	const struct edit_place *place = change->place;

	for (const struct edit_place *child = place->first; child;
	     child = child->next)
		if (child->state == PLACE_NEW ||
		    (child->old && child->state == PLACE_REMOVED))
			plan_refuse(&splicer->plan, child,
				    child->old ? child->old : place->old,
				    reason);
}

/* --- splices ------------------------------------------------------------- */

static struct splice *add_splice(struct splicer *splicer, uint32_t start,
				 uint32_t end)
{
	struct splice_list *out = &splicer->out;
	struct splice *splice =
		VEC_PUSH(splicer->arena, out->items, out->n, out->size);

	*splice = (struct splice){.start = start, .end = end, .text = ""};
	return splice;
}

void splice_cut(struct splicer *splicer, uint32_t start, uint32_t end)
{
	add_splice(splicer, start, end);
}

void splice_put(struct splicer *splicer, uint32_t start, uint32_t end,
		struct buf *text)
{
	struct splice *splice = add_splice(splicer, start, end);

	splice->text = arena_strndup(splicer->arena, text->data, text->len);
	splice->len = text->len;
	buf_release(text);
}

/* --- plans ---------------------------------------------------------------- */

const struct node *new_value(struct splicer *splicer,
			     const struct edit_place *place)
{
	struct node *node = place_build(splicer->arena, place);

	node->key = place->key;
	node->key_len = (uint32_t)place->key_len;
	return node;
}

const struct node *child_of(const struct splice_change *change, uint32_t index)
{
	const struct node *child = change->old->first;

	while (child && index--)
		child = child->next;
	return child;
}

bool is_removed(const struct splice_change *change, const struct node *child)
{
	const struct edit_place *place = change->by_index[child->index];

	return place && place->state == PLACE_REMOVED;
}

static bool has_anchor(const struct node *node)
{
	if (node->flags & NODE_ANCHORED)
		return true;
	for (const struct node *child = node->first; child; child = child->next)
		if (has_anchor(child))
			return true;
	return false;
}

const char *shared_reason(const struct node *node)
{
	if (node->flags & NODE_MERGED)
		return "the value comes from a merge (<<)";
	if (node->flags & NODE_ALIASED)
		return "the value is an alias (*)";
	if (node->flags & NODE_ANCHORED)
		return "the value has an anchor (&)";
	return NULL;
}

const char *fixed_reason(const struct node *node)
{
	const char *reason = shared_reason(node);

	if (!reason && has_anchor(node))
		reason = "the value contains an anchor (&)";
	return reason;
}

void change_collect(const struct splicer *splicer,
		    const struct edit_place *place,
		    struct splice_change *change)
{
	*change = (struct splice_change){
		.place = place,
		.old = place->old,
		.by_index =
			ARENA_ARRAY(splicer->arena, const struct edit_place *,
				    place->old->len + 1),
	};
	for (const struct edit_place *child = place->first; child;
	     child = child->next) {
		change->added += child->state == PLACE_NEW;
		if (!child->old)
			continue;
		change->by_index[child->old->index] = child;
		change->removed += child->state == PLACE_REMOVED;
	}
	change->emptied = change->removed == place->old->len;
}

/*
 * Renames keys: if one fix removes an entry and adds one with the same value,
 * only the bytes of the key are changed, so that comments, style and position
 * stay.
 *
 * The caller has checked that the map contains only plain entries
 * (only_entries()): no key has a tag, an anchor or a `?` before it.
 */

bool is_added(const struct splice_change *change,
	      const struct edit_place *child)
{
	if (child->state != PLACE_NEW)
		return false;
	for (unsigned i = 0; i < change->nrenamed; i++)
		if (change->renamed[i] == child)
			return false;
	return true;
}

/* True if the same single group makes both changes. */
static bool same_owner(const struct edit_place *a, const struct edit_place *b)
{
	const struct place_owner *x = a ? a->owners : NULL, *y = b->owners;

	return x && y && !x->next && !y->next && x->group == y->group;
}

static bool has_own_key(const struct node *old)
{
	return old->key_end > old->key_start &&
	       !(old->flags & (NODE_MERGED | NODE_ALIASED));
}

static const struct node *find_old(struct splicer *splicer,
				   const struct splice_change *change,
				   const struct edit_place *child)
{
	const struct node *value = NULL;

	FOR_EACH_CHILD(change->old, old) {
		if (!is_removed(change, old) || !has_own_key(old) ||
		    !same_owner(change->by_index[old->index], child))
			continue;
		if (!value)
			value = new_value(splicer, child);
		if (node_same(old, value))
			return old;
	}
	return NULL;
}

/* Replaces the old key by the new one, in the quotes of the old one if it has
 * any. */
static void put_key(struct splicer *splicer, const struct splice_change *change,
		    const struct node *old, const struct edit_place *child)
{
	char quote = splicer->text[old->key_start];
	struct buf out;

	buf_init(&out);
	text_key(&out, child->key, child->key_len,
		 quote == '"' || quote == '\'' ? quote : '\0',
		 change->old->flags & NODE_FLOW);
	splice_put(splicer, old->key_start, old->key_end, &out);
}

void change_rename(struct splicer *splicer, struct splice_change *change)
{
	const struct edit_place *child = change->place->first;

	if (change->old->type != NODE_MAP || !change->added || !change->removed)
		return;
	change->renamed = ARENA_ARRAY(splicer->arena, const struct edit_place *,
				      change->added);
	for (; child; child = child->next) {
		const struct node *old;

		if (child->state != PLACE_NEW)
			continue;
		old = find_old(splicer, change, child);
		if (!old)
			continue;
		put_key(splicer, change, old, child);
		change->by_index[old->index] = NULL;
		change->renamed[change->nrenamed++] = child;
		change->added--;
		change->removed--;
		change->emptied = false;
	}
}
