/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internals of edits_splice(). splice.c walks the plan, splice_change.c
 * collects what changes at a place, splice_rename.c gives entries new keys,
 * splice_block.c changes block style, splice_flow.c flow style and JSON,
 * splice_scan.c looks at the bytes around. Only splice*.c includes this.
 *
 * Functions that can refuse do so by splice_refuse() and return false (or
 * nothing): the walk goes on to find everything that must be refused, drops its
 * splices, and restarts without the refused groups.
 */
#ifndef RULES_DOC_SPLICE_INTERNAL_H
#define RULES_DOC_SPLICE_INTERNAL_H

#include "doc/splice.h"
#include "rules/doc/edit/edit_plan.h"
#include "splice_text.h"

struct splicer {
	struct arena *arena;
	const struct doc *doc;
	const char *text;
	uint32_t len;
	struct plan plan;
	struct splice_list out;
};

/* A place whose inner parts change, with the parts and problems found. */
struct splice_change {
	const struct edit_place *place;
	const struct node *old;
	const struct edit_place **by_index; /* changed old children, or NULL */
	unsigned removed, added;
	bool emptied; /* no old child stays */
	const struct edit_place *
		*renamed; /* added by change_rename() already */
	unsigned nrenamed;
};

/* --- splice_scan.c ------------------------------------------------------- */

/* Returns the end of the line of `at`, before its line end. */
uint32_t line_stop(const struct splicer *splicer, uint32_t at);
/* Finds the end of the previous line; false if there is none. */
bool line_before(const struct splicer *splicer, uint32_t at, uint32_t *stop);
const char *newline_at(const struct splicer *splicer, uint32_t at);
/* Returns the column if only blanks and dashes precede it, else -1. */
int column(const struct splicer *splicer, uint32_t at);
/* True if only blanks precede it on its line. */
bool begins_line(const struct splicer *splicer, uint32_t at);
/* True if only blanks, or a comment, follow it on its line. */
bool ends_line(const struct splicer *splicer, uint32_t at);
/* True if from..to has only blanks, line ends, comments and at most one
 * `mark`. */
bool only_space(const struct splicer *splicer, uint32_t from, uint32_t to,
		char mark);
bool has_comment(const struct splicer *splicer, uint32_t from, uint32_t to);
bool has_break(const struct splicer *splicer, uint32_t from, uint32_t to);
/* Returns the position after the colon of a map entry; 0 if it is not written
 * that way. */
uint32_t behind_colon(const struct splicer *splicer, const struct node *node);
/* Returns the dash of a list item on the item's line; 0xffffffff if there is
 * none. */
uint32_t dash_of(const struct splicer *splicer, const struct node *item);
/* Returns the blanks at the start of the line of `at`, including tabs. */
const char *indent_of(const struct splicer *splicer, uint32_t at);
/* Returns the end of the `*name` after a map entry's colon; 0 if there is
 * none. */
uint32_t alias_end(const struct splicer *splicer, const struct node *node);
/*
 * Returns the end of the last line of a block map or list in column col, with
 * the comments below that belong to its last entry: they are indented further
 * than its entries, or are items of a list.
 */
uint32_t below_comments(const struct splicer *splicer, const struct node *node,
			unsigned col);
/* Learns the style of a value's neighbors. */
void learn_style(const struct splicer *splicer, const struct node *node,
		 struct style *style);

/* --- splice_change.c ----------------------------------------------------- */

void splice_refuse(struct splicer *splicer, const struct edit_place *place,
		   const char *reason);
/* Rejects all changes directly below a place. */
void refuse_changes(struct splicer *splicer, const struct splice_change *change,
		    const char *reason);
void splice_cut(struct splicer *splicer, uint32_t start, uint32_t end);
/* Takes over the content of text and releases it. */
void splice_put(struct splicer *splicer, uint32_t start, uint32_t end,
		struct buf *text);
/* Returns the new value of a place, with its key. */
const struct node *new_value(struct splicer *splicer,
			     const struct edit_place *place);
/* Collects the changes directly below a place. */
void change_collect(const struct splicer *splicer,
		    const struct edit_place *place,
		    struct splice_change *change);
const struct node *child_of(const struct splice_change *change, uint32_t index);
bool is_removed(const struct splice_change *change, const struct node *child);
/* Why a change of this value would also change another place, or NULL. */
const char *shared_reason(const struct node *node);
/* Why bytes of this value cannot be changed or removed, or NULL. */
const char *fixed_reason(const struct node *node);

/* --- splice_rename.c ----------------------------------------------------- */

/* Entries that only change their key count as neither removed nor added. */
void change_rename(struct splicer *splicer, struct splice_change *change);
bool is_added(const struct splice_change *change,
	      const struct edit_place *child);

/* --- splice_block.c, splice_flow.c --------------------------------------- */

/* Returns the end of a map entry's or item's own text. */
uint32_t entry_end(const struct splicer *splicer, const struct node *child);
void block_change(struct splicer *splicer, const struct splice_change *change);
void block_replace(struct splicer *splicer, const struct edit_place *place);
void flow_change(struct splicer *splicer, const struct splice_change *change);
void flow_replace(struct splicer *splicer, const struct edit_place *place);

#endif
