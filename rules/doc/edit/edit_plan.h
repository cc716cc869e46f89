/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The merged edits of one document: a tree of the places that edits go through.
 * Private to edit*.c and splice*.c. A place whose value is in the document has
 * `old`; otherwise it is new. Children of a place with state PLACE_KEPT are the
 * changed ones, in the order of the edits; a new value has places for all of
 * its children.
 */
#ifndef RULES_DOC_EDIT_PLAN_H
#define RULES_DOC_EDIT_PLAN_H

#include "doc/edit.h"

enum place_state {
	PLACE_KEPT,	/* the old value stays, but may change inside */
	PLACE_REPLACED, /* the old value is replaced */
	PLACE_REMOVED,
	PLACE_NEW,
};

/* Claims of edits on a place. Different claims on one place contradict each
 * other. */
enum place_claim {
	CLAIM_NONE,
	CLAIM_MAP,  /* it is a map */
	CLAIM_SEQ,  /* it is a list */
	CLAIM_LEAF, /* it has exactly this value */
	CLAIM_GONE,
};

struct place_owner {
	unsigned group;
	struct place_owner *next;
};

struct edit_place {
	const struct node *old;
	enum place_state state;
	enum place_claim claim;
	bool removers; /* all groups of the place only remove something */
	bool contested;
	const struct node *leaf; /* value, for CLAIM_LEAF */
	/* item of a list, from the first edit that appends it */
	const struct node *item;
	const char *key; /* key, in a map */
	size_t key_len;
	struct place_owner *owners;
	struct edit_place *parent, *first, *last, *next;
	/* child that was found last, because edits are in order */
	struct edit_place *recent;
	uint32_t beyond; /* larger than every index of a child's old value */
};

struct plan {
	struct arena *arena;
	struct edit_list *list;
	struct edit_place root;
	/* in this round, a group was rejected, or two contradicted each
	 * other */
	bool refused, conflict;
};

/* Merges the list's edits and sets the outcomes of groups that are left out. */
void plan_make(struct plan *plan, struct edit_list *list,
	       const struct node *root, struct arena *arena);
/* Removes the keys of lists whose items are all removed. */
void plan_drop_emptied(struct edit_place *root);
/* Builds the value of a place after the edits, without a parent. */
struct node *place_build(struct arena *arena, const struct edit_place *place);
/* Marks all groups of a place as rejected, for this and all later plans. */
void plan_refuse(struct plan *plan, const struct edit_place *place,
		 const struct node *at, const char *reason);

#endif
