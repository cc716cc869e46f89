/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Renames keys: if one fix removes an entry and adds one with the same value,
 * only the bytes of the key are changed, so that comments, style and position
 * stay.
 *
 * The caller has checked that the map contains only plain entries
 * (only_entries()): no key has a tag, an anchor or a `?` before it.
 */
#include <string.h>

#include "splice_internal.h"

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
