/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collects the changes below a place, the reasons why they cannot be made, and
 * the splices that make them.
 */
#include <string.h>

#include "base/vec.h"
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
