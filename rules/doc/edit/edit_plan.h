/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The merged edits of one document: a tree of the places that edits go through.
 * Private to edit*.c and splice*.c. A place for a value of the document has
 * `old`; a place without it is new. Children of a place with state PLACE_KEPT
 * are the changed ones, in the order of the edits; children of a new value are
 * all its parts.
 */
#ifndef RULES_DOC_EDIT_PLAN_H
#define RULES_DOC_EDIT_PLAN_H

#include "doc/edit.h"

enum place_state {
	PLACE_KEPT,	/* the old value, possibly changed inside */
	PLACE_REPLACED, /* the old value is replaced */
	PLACE_REMOVED,
	PLACE_NEW,
};

/* Claims of edits on a place. Different claims on one place are a conflict. */
enum place_claim {
	CLAIM_NONE,
	CLAIM_MAP,  /* is a map */
	CLAIM_SEQ,  /* is a list */
	CLAIM_LEAF, /* is exactly this value */
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
	bool removers; /* all owners only remove something */
	bool contested;
	const struct node *leaf; /* CLAIM_LEAF */
	const struct node *item; /* as appended by the first edit */
	const char *key;	 /* in a map */
	size_t key_len;
	struct place_owner *owners;
	struct edit_place *parent, *first, *last, *next;
	struct edit_place *recent; /* child found last: edits are in order */
	uint32_t beyond; /* more than the index of each child's old value */
};

struct plan {
	struct arena *arena;
	struct edit_list *list;
	struct edit_place root;
	bool refused, conflict; /* some group was rejected, or conflicted, in
				   this round */
};

/* Merges the list's edits; groups that are left out have their outcome. */
void plan_make(struct plan *plan, struct edit_list *list,
	       const struct node *root, struct arena *arena);
/* Removes the keys of lists whose items are all removed (edit_emptied.c). */
void plan_drop_emptied(struct edit_place *root);
/* Builds the value of a place after the edits, without a parent. */
struct node *place_build(struct arena *arena, const struct edit_place *place);
/* Marks all owners of a place as rejected, for this and all later plans. */
void plan_refuse(struct plan *plan, const struct edit_place *place,
		 const struct node *at, const char *reason);

#endif
