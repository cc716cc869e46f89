/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes maps and lists in block style, whose entries are on separate lines in
 * one column. New entries are inserted after the last line of the map or list
 * and after comments that are indented further than its entries; new metadata
 * is inserted before a spec. A removed entry takes its lines and the comments
 * on them with it; comments on separate lines stay. A map in a list begins on
 * the line of the dash: if its first entry is removed, the next one moves
 * there.
 */
#include <string.h>

#include "splice_internal.h"

static const char tagged[] = "a tag or unusual syntax comes before it";
static const char crowded[] = "other text is on the same line";
static const char indented[] = "the line begins with a tab or unusual syntax";

/* --- adding -------------------------------------------------------------- */

static bool is_block_text(const struct node *node)
{
	return node->flags & NODE_BLOCK && !(node->flags & NODE_ALIASED);
}

static const struct node *last_leaf(const struct node *node)
{
	while (node->last)
		node = node->last;
	return node;
}

/* True if the node ends in a block scalar that keeps all line ends, which would
 * also keep those of new lines. */
static bool ends_in_keep(const struct splicer *splicer, const struct node *node)
{
	node = last_leaf(node);
	if (!is_block_text(node))
		return false;
	for (uint32_t i = node->start; i < node->end; i++) {
		if (splicer->text[i] == '\n' || splicer->text[i] == '#')
			return false;
		if (splicer->text[i] == '+')
			return true;
	}
	return false;
}

/* True if the previous line contains only a comment. */
static bool has_comment_above(const struct splicer *splicer, uint32_t at)
{
	uint32_t stop, before, i;

	if (!line_before(splicer, at, &stop))
		return false;
	i = line_before(splicer, stop, &before) ? before : 0;
	while (i < stop && strchr(" \t\r\n", splicer->text[i]))
		i++;
	return i < stop && splicer->text[i] == '#';
}

/* Returns the spec before which new metadata is inserted, as is usual; NULL if
 * there is none. */
static const struct node *spec_after(const struct splicer *splicer,
				     const struct splice_change *change,
				     const struct edit_place *child)
{
	const struct node *old = change->old, *spec;

	if (old->type != NODE_MAP || child->key_len != strlen("metadata") ||
	    memcmp(child->key, "metadata", child->key_len) != 0)
		return NULL;
	spec = node_get(old, "spec");
	if (!spec || spec->flags & NODE_MERGED || is_removed(change, spec) ||
	    column(splicer, spec->key_start) != column(splicer, old->start) ||
	    has_comment_above(splicer, spec->key_start))
		return NULL;
	return spec;
}

static void put_before(struct splicer *splicer, const struct node *next,
		       const struct node *value, const struct style *style,
		       unsigned col)
{
	struct buf out;

	buf_init(&out);
	text_block_entry(&out, value, style, col);
	text_newline(&out, style, col);
	splice_put(splicer, next->key_start, next->key_start, &out);
}

static void add_entries(struct splicer *splicer,
			const struct splice_change *change,
			const struct style *style, unsigned col,
			struct buf *out)
{
	bool first = change->emptied;

	for (const struct edit_place *child = change->place->first; child;
	     child = child->next) {
		const struct node *value, *next;

		if (!is_added(change, child))
			continue;
		value = new_value(splicer, child);
		next = spec_after(splicer, change, child);
		if (next) {
			put_before(splicer, next, value, style, col);
			continue;
		}
		if (!first)
			text_newline(out, style, col);
		first = false;
		if (change->old->type == NODE_MAP)
			text_block_entry(out, value, style, col);
		else
			text_block_item(out, value, style, col);
	}
}

static void block_add(struct splicer *splicer,
		      const struct splice_change *change)
{
	const struct node *old = change->old;
	int col = column(splicer, old->start);
	struct style style;
	struct buf out;
	uint32_t at;

	if (col < 0 || !ends_line(splicer, old->end)) {
		refuse_changes(splicer, change, col < 0 ? indented : crowded);
		return;
	}
	if (ends_in_keep(splicer, old)) {
		refuse_changes(
			splicer, change,
			"a block scalar that keeps its last line ends (|+) "
			"comes before it");
		return;
	}
	at = below_comments(splicer, old, (unsigned)col);
	learn_style(splicer, old, &style);
	style.nl = newline_at(splicer, at);
	buf_init(&out);
	add_entries(splicer, change, &style, (unsigned)col, &out);
	/* The new text replaces everything in the map or list, or is inserted
	 * after it. */
	if (change->emptied)
		splice_put(splicer, old->start, old->end, &out);
	else
		splice_put(splicer, at, at, &out);
}

/* --- removing ------------------------------------------------------------ */

static uint32_t entry_start(const struct splicer *splicer,
			    const struct node *child)
{
	return child->key ? child->key_start : dash_of(splicer, child);
}

uint32_t entry_end(const struct splicer *splicer, const struct node *child)
{
	uint32_t colon;

	if (!(child->flags & NODE_IMPLICIT) || !child->key)
		return child->end;
	colon = behind_colon(splicer, child);
	return colon > child->end ? colon : child->end;
}

/* Returns the end of the previous entry, or the start of the map or list for
 * the first entry; UINT32_MAX if the previous entry is an alias or a merge. */
static uint32_t previous_end(const struct splicer *splicer,
			     const struct splice_change *change, uint32_t index)
{
	const struct node *before;

	if (!index)
		return change->old->start;
	before = child_of(change, index - 1);
	if (before->flags & (NODE_ALIASED | NODE_MERGED))
		return UINT32_MAX;
	return entry_end(splicer, before);
}

static const struct node *kept_before(const struct splice_change *change,
				      const struct node *child)
{
	const struct node *kept = NULL;

	for (const struct node *at = change->old->first; at != child;
	     at = at->next)
		if (!is_removed(change, at))
			kept = at;
	return kept;
}

/* Returns the last scalar that precedes the entry after all edits; NULL if it
 * is new or there is none. */
static const struct node *leaf_before(const struct splicer *splicer,
				      const struct splice_change *change,
				      const struct node *child)
{
	const struct node *node = kept_before(change, child);
	const struct edit_place *place =
		node ? change->by_index[node->index] : NULL;
	struct splice_change inner;

	while (node && place && place->state == PLACE_KEPT && node->last) {
		change_collect(splicer, place, &inner);
		node = inner.added ? NULL : kept_before(&inner, NULL);
		place = node ? inner.by_index[node->index] : NULL;
	}
	if (place && place->state != PLACE_KEPT)
		return NULL;
	return node ? last_leaf(node) : NULL;
}

/*
 * True if comments or empty lines after the removed lines would become part of
 * a block scalar before them: comments with its indentation, or empty lines
 * that it keeps.
 */
static bool joins_text(const struct splicer *splicer,
		       const struct splice_change *change,
		       const struct node *child)
{
	const struct node *before = leaf_before(splicer, change, child);
	uint32_t at = line_stop(splicer, entry_end(splicer, child));
	int col = column(splicer, change->old->start);

	if (!before || !is_block_text(before))
		return false;
	for (;;) {
		uint32_t begin;

		while (at < splicer->len && splicer->text[at] != '\n')
			at++;
		/* The splice then also removes the line end before the
		 * entry. */
		if (at == splicer->len)
			return ends_in_keep(splicer, before);
		if (++at == splicer->len)
			return false;
		begin = at;
		while (at < splicer->len && splicer->text[at] == ' ')
			at++;
		if (at < splicer->len && splicer->text[at] == '#')
			return (int)(at - begin) > col;
		if (at != line_stop(splicer, at))
			return false;
		if (ends_in_keep(splicer, before))
			return true;
	}
}

static bool may_cut(struct splicer *splicer, const struct splice_change *change,
		    const struct node *child)
{
	const char *reason = fixed_reason(child);
	uint32_t start = reason ? 0 : entry_start(splicer, child);

	if (!reason &&
	    (start == UINT32_MAX ||
	     !only_space(splicer, previous_end(splicer, change, child->index),
			 start, '\0')))
		reason = tagged;
	if (!reason && !ends_line(splicer, entry_end(splicer, child)))
		reason = crowded;
	if (!reason && joins_text(splicer, change, child))
		reason = "a block scalar (| or >) comes before it";
	if (reason)
		splice_refuse(splicer, change->by_index[child->index], reason);
	return !reason;
}

/* Removes all lines from the line of `from` to the line of `to`. */
static void cut_lines(struct splicer *splicer, uint32_t from, uint32_t to)
{
	uint32_t stop = line_stop(splicer, to), before;

	if (line_before(splicer, from, &before)) {
		splice_cut(splicer, before, stop);
		return;
	}
	while (stop < splicer->len && splicer->text[stop] != '\n')
		stop++;
	splice_cut(splicer, 0, stop < splicer->len ? stop + 1 : stop);
}

/*
 * Cuts the entries to be removed at the start of a map that begins on the line
 * of a dash. Returns the entry after those that it has handled.
 */
static const struct node *cut_first(struct splicer *splicer,
				    const struct splice_change *change)
{
	const struct node *first = change->old->first, *next = first;
	const char *reason = NULL;

	while (next && is_removed(change, next)) {
		const struct node *after = next->next;

		if (!may_cut(splicer, change, next))
			return after;
		if (!after || after->flags & NODE_MERGED || !after->key)
			reason = crowded;
		else if (has_comment(
				 splicer,
				 line_stop(splicer, entry_end(splicer, next)),
				 after->key_start))
			reason = "a comment is in between";
		next = after;
	}
	if (!reason)
		splice_cut(splicer, first->key_start, next->key_start);
	for (const struct node *child = first; reason && child != next;
	     child = child->next)
		splice_refuse(splicer, change->by_index[child->index], reason);
	return next;
}

static void block_remove(struct splicer *splicer,
			 const struct splice_change *change)
{
	const struct node *child = change->old->first;

	if (is_removed(change, child) && child->key &&
	    !begins_line(splicer, child->key_start))
		child = cut_first(splicer, change);
	for (; child; child = child->next) {
		uint32_t start;

		if (!is_removed(change, child) ||
		    !may_cut(splicer, change, child))
			continue;
		start = entry_start(splicer, child);
		if (!begins_line(splicer, start))
			splice_refuse(splicer, change->by_index[child->index],
				      crowded);
		else
			cut_lines(splicer, start, entry_end(splicer, child));
	}
}

/* --- emptying ------------------------------------------------------------ */

/* Replaces a block map or list by a text on the line of its key. */
static void block_collapse(struct splicer *splicer, const struct node *old,
			   struct buf *text)
{
	uint32_t colon = old->parent ? behind_colon(splicer, old) : 0;
	struct buf out;

	if (!colon || !has_break(splicer, colon, old->start)) {
		splice_put(splicer, old->start, old->end, text);
		return;
	}
	buf_init(&out);
	buf_addc(&out, ' ');
	buf_add(&out, text->data, text->len);
	buf_release(text);
	splice_put(splicer, colon, colon, &out);
	cut_lines(splicer, old->start, old->end);
}

/* Returns the reason why not all bytes of a block value can be removed, or
 * NULL. */
static const char *whole_reason(const struct splicer *splicer,
				const struct node *old)
{
	uint32_t colon = old->parent ? behind_colon(splicer, old) : 0;
	const char *reason = fixed_reason(old);

	if (reason)
		return reason;
	if (old->key &&
	    (!colon || !only_space(splicer, colon, old->start, '\0')))
		return tagged;
	if (old->parent && !old->key && dash_of(splicer, old) == UINT32_MAX)
		return tagged;
	if (!ends_line(splicer, old->end))
		return crowded;
	return NULL;
}

static void block_empty(struct splicer *splicer,
			const struct splice_change *change)
{
	const char *reason = whole_reason(splicer, change->old);
	struct buf out;

	if (!reason && ends_in_keep(splicer, change->old))
		reason = "there is a block scalar that keeps its last line "
			 "ends (|+)";
	if (reason) {
		refuse_changes(splicer, change, reason);
		return;
	}
	buf_init(&out);
	buf_adds(&out, change->old->type == NODE_MAP ? "{}" : "[]");
	block_collapse(splicer, change->old, &out);
}

void block_change(struct splicer *splicer, const struct splice_change *change)
{
	const char *reason = NULL;

	if (change->emptied)
		reason = whole_reason(splicer, change->old);
	if (reason)
		refuse_changes(splicer, change, reason);
	else if (change->emptied && !change->added)
		block_empty(splicer, change);
	else if (change->emptied)
		block_add(splicer, change);
	else {
		if (change->removed)
			block_remove(splicer, change);
		if (change->added)
			block_add(splicer, change);
	}
}

/* --- replacing ----------------------------------------------------------- */

static bool is_collection(const struct node *node)
{
	return node->type == NODE_MAP || node->type == NODE_SEQ;
}

/* Replaces a value by lines below its key. Returns false if that is
 * impossible. */
static bool put_below(struct splicer *splicer, const struct node *old,
		      const struct node *value, struct style *style)
{
	uint32_t colon = behind_colon(splicer, old);
	bool implicit = old->flags & NODE_IMPLICIT;
	uint32_t end = implicit ? colon : old->end;
	uint32_t at = line_stop(splicer, end);
	int col = column(splicer, old->key_start);
	bool block = is_collection(old) && !(old->flags & NODE_FLOW);
	struct buf out;

	if (!colon || col < 0 || !ends_line(splicer, end))
		return false;
	if (!block && !implicit && has_break(splicer, colon, old->start))
		return false;
	style->nl = newline_at(splicer, at);
	buf_init(&out);
	text_block_value(&out, value, style, (unsigned)col);
	if (block) {
		cut_lines(splicer, old->start, old->end);
		at = line_stop(splicer, colon);
	} else if (!implicit) {
		splice_cut(splicer, colon, old->end);
	}
	splice_put(splicer, at, at, &out);
	return true;
}

static void put_here(struct splicer *splicer, const struct node *old,
		     const struct node *value, const struct style *style)
{
	struct buf out;

	buf_init(&out);
	if (old->flags & NODE_IMPLICIT)
		buf_addc(&out, ' ');
	if (is_collection(value))
		text_flow(&out, value, style, "");
	else
		text_scalar(&out, value, style, false);
	if (old->flags & NODE_IMPLICIT) {
		uint32_t at =
			old->key ? behind_colon(splicer, old) : old->start;

		splice_put(splicer, at, at, &out);
	} else if (is_collection(old) && !(old->flags & NODE_FLOW)) {
		block_collapse(splicer, old, &out);
	} else {
		splice_put(splicer, old->start, old->end, &out);
	}
}

static const char *replace_reason(const struct splicer *splicer,
				  const struct node *old)
{
	const char *reason = whole_reason(splicer, old);

	if (!reason && old->flags & NODE_BLOCK)
		reason = "there is a block scalar (| or >)";
	/*
	 * A '#' in quoted text also counts as a comment; the edit is then
	 * rejected needlessly.
	 */
	if (!reason && is_collection(old) &&
	    has_comment(splicer, old->start,
			old->flags & NODE_FLOW ? old->end
					       : line_stop(splicer, old->end)))
		reason = "the value contains comments";
	return reason;
}

void block_replace(struct splicer *splicer, const struct edit_place *place)
{
	const struct node *old = place->old;
	const char *reason;
	const struct node *value;
	struct style style;

	/* An implicit null has no bytes, so only its colon or dash is
	 * checked. */
	if (old->flags & NODE_IMPLICIT) {
		uint32_t at =
			old->key ? behind_colon(splicer, old) : old->start;

		reason = fixed_reason(old);
		if (!reason && (!at || !ends_line(splicer, at)))
			reason = tagged;
		if (!reason && !old->key && dash_of(splicer, old) == UINT32_MAX)
			reason = tagged;
	} else {
		reason = replace_reason(splicer, old);
	}
	if (reason) {
		splice_refuse(splicer, place, reason);
		return;
	}
	value = new_value(splicer, place);
	learn_style(splicer, old->parent, &style);
	if (!old->key || !value->first ||
	    !put_below(splicer, old, value, &style))
		put_here(splicer, old, value, &style);
}
