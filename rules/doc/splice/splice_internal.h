/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internals of edits_splice(). splice.c walks the plan, splice_change.c
 * collects the changes at a place and gives entries new keys,
 * splice_block.c changes block style, splice_flow.c flow style and JSON,
 * splice_scan.c scans the bytes between values, splice_text.c writes values in
 * the style of their neighbors. Only splice*.c includes this header.
 *
 * A function that rejects a change calls splice_refuse() and returns false (or
 * nothing). The walk continues to find all changes that must be rejected, drops
 * its splices, and restarts without the rejected groups.
 */
#ifndef RULES_DOC_SPLICE_INTERNAL_H
#define RULES_DOC_SPLICE_INTERNAL_H

#include "doc/splice.h"
#include "rules/doc/edit/edit_plan.h"

/* --- values in the style of their neighbors (splice_text.c) --------------- */

struct style {
	const char *nl; /* line end */
	/* Block style: */
	unsigned step;	 /* indentation of a map inside of a map */
	unsigned offset; /* column of a dash relative to the key of its list */
	unsigned gap;	 /* number of blanks after a dash */
	/* Flow style: */
	bool json;	  /* keys and strings in double quotes */
	bool tight;	  /* no blank after : and , */
	bool lines;	  /* each entry on a separate line */
	const char *unit; /* if lines is set: indentation added by each level */
};

/* Writes a map's key. quote is the quote of the neighboring keys (" or '), or
 * NUL. */
void text_key(struct buf *out, const char *key, size_t len, char quote,
	      bool flow);
/* Writes a scalar, or an empty collection. */
void text_scalar(struct buf *out, const struct node *node,
		 const struct style *style, bool flow);
/* Writes `key: value` in flow style. indent is the indentation of its line. */
void text_flow_entry(struct buf *out, const struct node *node,
		     const struct style *style, const char *indent);
void text_flow(struct buf *out, const struct node *node,
	       const struct style *style, const char *indent);
/* Writes `key: value` with the key in column col, without a line end. */
void text_block_entry(struct buf *out, const struct node *node,
		      const struct style *style, unsigned col);
/* Writes `- value` with the dash in column col. */
void text_block_item(struct buf *out, const struct node *node,
		     const struct style *style, unsigned col);
/* Writes the text that follows the colon of a key in column col. */
void text_block_value(struct buf *out, const struct node *node,
		      const struct style *style, unsigned col);
/* Writes a line end and col blanks. */
void text_newline(struct buf *out, const struct style *style, unsigned col);

/* --- changes -------------------------------------------------------------- */

struct splicer {
	struct arena *arena;
	const struct doc *doc;
	const char *text;
	uint32_t len;
	struct plan plan;
	struct splice_list out;
};

/* A place whose inner parts change, with these parts and the reasons to reject
 * them. */
struct splice_change {
	const struct edit_place *place;
	const struct node *old;
	/* changed children that exist, by index; or NULL */
	const struct edit_place **by_index;
	unsigned removed, added;
	bool emptied; /* none of the existing children stays */
	/* entries that change_rename() has added */
	const struct edit_place **renamed;
	unsigned nrenamed;
};

/* --- splice_scan.c ------------------------------------------------------- */

/* Returns the offset of the line end of the line that contains `at`. */
uint32_t line_stop(const struct splicer *splicer, uint32_t at);
/* Finds the end of the line before the one that contains `at`; false if there
 * is none. */
bool line_before(const struct splicer *splicer, uint32_t at, uint32_t *stop);
const char *newline_at(const struct splicer *splicer, uint32_t at);
/* Returns the column of `at` if only blanks and dashes precede it on its line,
 * else -1. */
int column(const struct splicer *splicer, uint32_t at);
/* True if only blanks precede `at` on its line. */
bool begins_line(const struct splicer *splicer, uint32_t at);
/* True if only blanks, or a comment, follow `at` on its line. */
bool ends_line(const struct splicer *splicer, uint32_t at);
/* True if the bytes from..to are only blanks, line ends, comments and at most
 * one `mark`. */
bool only_space(const struct splicer *splicer, uint32_t from, uint32_t to,
		char mark);
bool has_comment(const struct splicer *splicer, uint32_t from, uint32_t to);
bool has_break(const struct splicer *splicer, uint32_t from, uint32_t to);
/* Returns the position after the colon of a map entry; 0 if the entry is not
 * written as `key: value`. */
uint32_t behind_colon(const struct splicer *splicer, const struct node *node);
/* Returns the position of a list item's dash if it is on the item's line;
 * 0xffffffff if not. */
uint32_t dash_of(const struct splicer *splicer, const struct node *item);
/* Returns the blanks, including tabs, at the start of the line that contains
 * `at`. */
const char *indent_of(const struct splicer *splicer, uint32_t at);
/* Returns the end of the `*name` after a map entry's colon; 0 if there is
 * none. */
uint32_t alias_end(const struct splicer *splicer, const struct node *node);
/*
 * Returns the end of the last line of a block map or list in column col,
 * including the comments below that belong to its last entry because they are
 * indented further than its entries, or are items of a list.
 */
uint32_t below_comments(const struct splicer *splicer, const struct node *node,
			unsigned col);
/* Sets the style to that of the value's neighbors. */
void learn_style(const struct splicer *splicer, const struct node *node,
		 struct style *style);

/* --- splice_change.c ----------------------------------------------------- */

void splice_refuse(struct splicer *splicer, const struct edit_place *place,
		   const char *reason);
/* Rejects all changes directly below a place. */
void refuse_changes(struct splicer *splicer, const struct splice_change *change,
		    const char *reason);
void splice_cut(struct splicer *splicer, uint32_t start, uint32_t end);
/* Replaces bytes by text; takes over its content and releases it. */
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
/* Returns the reason why a change of this value would also change another
 * place, or NULL. */
const char *shared_reason(const struct node *node);
/* Returns the reason why bytes of this value cannot be changed or removed, or
 * NULL. */
const char *fixed_reason(const struct node *node);

/* Finds entries that only change their key, which then count as neither removed
 * nor added. */
void change_rename(struct splicer *splicer, struct splice_change *change);
bool is_added(const struct splice_change *change,
	      const struct edit_place *child);

/* --- splice_block.c, splice_flow.c --------------------------------------- */

/* Returns the end of the text of a map entry or list item. */
uint32_t entry_end(const struct splicer *splicer, const struct node *child);
void block_change(struct splicer *splicer, const struct splice_change *change);
void block_replace(struct splicer *splicer, const struct edit_place *place);
void flow_change(struct splicer *splicer, const struct splice_change *change);
void flow_replace(struct splicer *splicer, const struct edit_place *place);

#endif
