/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fixes as edits of a document's tree. A fix is a group of edits of one
 * document, each of which states a result: "this map has this key with this
 * value", "this list has an item with this merge key", "this is absent".
 * Applying a group twice has the effect of applying it once; a value that is
 * right already is not changed.
 *
 * All groups for one document are merged and rendered once: as a tree
 * (edits_apply), as a JSON Patch (edits_patch), as changes of the author's
 * bytes (doc/splice.h). All three have the same effect.
 *
 * A group is applied as a whole or not at all. Groups that contradict each
 * other at one place are both left out.
 */
#ifndef DOC_EDIT_H
#define DOC_EDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "doc/node.h"

/* --- values: small trees ------------------------------------------------- */

struct node *edit_string(struct arena *arena, const char *text);
struct node *edit_int(struct arena *arena, int64_t value);
struct node *edit_bool(struct arena *arena, bool value);
struct node *edit_map(struct arena *arena);
struct node *edit_seq(struct arena *arena);
/* Copies a value of the document, to use it elsewhere. */
struct node *edit_copy(struct arena *arena, const struct node *value);
/* Adds a key that the map does not have yet. Returns the map. */
struct node *edit_member(struct arena *arena, struct node *map, const char *key,
			 struct node *value);
/* Adds a member `key: text` to a map, like edit_member(). Returns the map. */
struct node *edit_member_string(struct arena *arena, struct node *map,
				const char *key, const char *text);
/* Appends a value to a list. Returns the list. */
struct node *edit_item(struct node *seq, struct node *value);

/* --- paths --------------------------------------------------------------- */

enum edit_step_kind {
	EDIT_STEP_KEY, /* key of a map */
	/* list item, found by the value of a key (name: main) */
	EDIT_STEP_MATCH,
	EDIT_STEP_INDEX, /* list item, found by its index in the original
			    document */
};

struct edit_step {
	enum edit_step_kind kind;
	const char *key; /* for KEY and MATCH */
	size_t key_len;
	const struct node *value; /* for MATCH */
	uint32_t index;		  /* for INDEX */
};

/* A path is a value: copies of it can be extended in different ways. */
struct edit_path {
	struct arena *arena;
	const struct edit_step *steps;
	size_t nsteps;
};

/*
 * Sets the path to a value of the document; NULL is the root. List items are
 * identified by their name if it is unique, else by index.
 */
void edit_path_to(struct edit_path *path, struct arena *arena,
		  const struct node *node);
/* Extends the path by a step, which need not exist in the document. */
void edit_path_key(struct edit_path *path, const char *key);
void edit_path_match(struct edit_path *path, const char *key, const char *text);
void edit_path_index(struct edit_path *path, uint32_t index);

/* --- edits --------------------------------------------------------------- */

enum edit_kind { EDIT_SET, EDIT_ENSURE, EDIT_REMOVE };

struct edit {
	enum edit_kind kind;
	struct edit_path path;
	const struct node *value;
	const char *keys; /* for ENSURE */
	unsigned group;
};

enum edit_outcome {
	EDIT_DONE,     /* applied, or will be */
	EDIT_NEEDLESS, /* the document already has all values */
	EDIT_CONFLICT, /* another group needs a different value here */
	EDIT_REFUSED,  /* cannot be applied, see reason */
};

struct edit_group {
	enum edit_outcome outcome;
	/* REFUSED: the reason, lower case, no full stop. CONFLICT: NULL. */
	const char *reason;
	const struct node *at; /* REFUSED: the value in question, or NULL */
	unsigned other;	       /* CONFLICT: number of the other group */
	bool stays;	       /* REFUSED by edits_splice(), so never applied */
	/* temporary values while outcomes are computed */
	bool contested, changes;
};

struct edit_list {
	/* memory of the edits; values and keys are not copied */
	struct arena *arena;
	struct edit *edits;
	size_t nedits, edits_size;
	struct edit_group *groups;
	size_t ngroups, groups_size;
};

void edit_list_init(struct edit_list *list, struct arena *arena);
/* Starts a new group, to which the following edits belong; returns its number,
 * counted from 0. */
unsigned edit_group(struct edit_list *list);

/*
 * Makes the value present. A map value sets its keys and keeps other keys of
 * the map; any other value replaces the old one. Missing maps on the way
 * are created.
 */
void edit_set(struct edit_list *list, const struct edit_path *path,
	      const struct node *value);
/*
 * Ensures that the list at path has an item whose values of these keys
 * ("mountPath", "key,operator,effect") equal those of item, where an absent key
 * must be absent in both; otherwise appends item. A missing or null list is
 * created. An existing item is not changed.
 */
void edit_ensure(struct edit_list *list, const struct edit_path *path,
		 const struct node *item, const char *keys);
/* Removes a map key or list item if it exists. */
void edit_remove(struct edit_list *list, const struct edit_path *path);

/* --- results ------------------------------------------------------------- */

/*
 * All functions below skip groups that edits_splice() rejected before, so that
 * their results agree. They set the outcomes of the groups.
 */

/* Returns the tree with the edits of all groups whose outcome is EDIT_DONE, or
 * root itself if there are none. */
const struct node *edits_apply(struct edit_list *list, const struct node *root,
			       struct arena *arena);
/* Returns the edits as an RFC 6902 list of operations, which is empty if
 * nothing changes. */
struct node *edits_patch(struct edit_list *list, const struct node *root,
			 struct arena *arena);
/* Like edits_patch(), but changes root's tree in place; nothing else may use
 * the tree. The edits of the list are invalid afterwards. */
struct node *edits_patch_onto(struct edit_list *list, struct node *root,
			      struct arena *arena);

#endif
