/* SPDX-License-Identifier: Apache-2.0 */
/* Removes the keys of lists from which edits remove the last item. */
#include "edit_plan.h"

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
