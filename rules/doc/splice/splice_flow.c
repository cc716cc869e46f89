/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes maps and lists in flow style, which includes JSON: entries between
 * brackets, separated by commas. If the neighboring entries are on separate
 * lines, so are new entries.
 */
#include <string.h>

#include "splice_internal.h"

static const char no_brackets[] = "the value has no brackets of its own";
static const char unusual[] =
	"there is a tag or unusual syntax between the brackets";

static bool has_brackets(const struct splicer *splicer, const struct node *node)
{
	char open = node->type == NODE_MAP ? '{' : '[';

	return node->end - node->start >= 2 &&
	       splicer->text[node->start] == open &&
	       splicer->text[node->end - 1] == open + 2;
}

/* --- style --------------------------------------------------------------- */

static uint32_t entry_start(const struct node *child)
{
	return child->key ? child->key_start : child->start;
}

static bool on_own_line(const struct splicer *splicer, const struct node *child)
{
	return !(child->flags & (NODE_ALIASED | NODE_MERGED)) &&
	       begins_line(splicer, entry_start(child));
}

static bool quotes_keys(const struct splicer *splicer, const struct node *map)
{
	const struct node *child = map->last;

	return child && child->key && child->key_end > child->key_start &&
	       splicer->text[child->key_start] == '"';
}

/* Sets the indentation of a value's entries by comparison with the line of its
 * opening bracket. */
static void learn_unit(const struct splicer *splicer, const struct node *node,
		       struct style *style)
{
	const char *outer = indent_of(splicer, entry_start(node));
	const char *inner = indent_of(splicer, entry_start(node->last));
	size_t len = strlen(outer);

	if (!strncmp(inner, outer, len) && inner[len])
		style->unit = inner + len;
}

/*
 * Sets the style from the nearest value that has entries: node itself or one of
 * its parents. style->lines is set if entries are on separate lines.
 */
static void learn_flow(const struct splicer *splicer, const struct node *node,
		       struct style *style)
{
	const struct node *at = node;

	*style = (struct style){
		.nl = newline_at(splicer, node->start),
		.json = splicer->doc->json,
		.unit = "  ",
	};
	while (at && (at->flags & NODE_FLOW) && !at->last)
		at = at->parent;
	if (!at || !(at->flags & NODE_FLOW))
		return;
	style->lines = on_own_line(splicer, at->last) &&
		       (at == node || splicer->doc->json);
	if (style->lines)
		learn_unit(splicer, at, style);
	for (; at && at->flags & NODE_FLOW; at = at->parent) {
		uint32_t colon;

		style->json |= quotes_keys(splicer, at);
		if (!at->last || !at->last->key ||
		    at->last->flags & (NODE_ALIASED | NODE_MERGED))
			continue;
		colon = behind_colon(splicer, at->last);
		style->tight = style->json && colon && colon == at->last->start;
		return;
	}
}

/* --- adding -------------------------------------------------------------- */

static void add_entries(struct splicer *splicer,
			const struct splice_change *change,
			const struct style *style, const char *indent,
			struct buf *out)
{
	bool first = change->emptied;

	for (const struct edit_place *child = change->place->first; child;
	     child = child->next) {
		if (!is_added(change, child))
			continue;
		if (!first)
			buf_adds(out,
				 style->tight || style->lines ? "," : ", ");
		first = false;
		if (style->lines) {
			buf_adds(out, style->nl);
			buf_adds(out, indent);
		}
		text_flow_entry(out, new_value(splicer, child), style, indent);
	}
}

/* Replaces everything between the brackets. */
static void flow_fill(struct splicer *splicer,
		      const struct splice_change *change,
		      const struct style *style)
{
	const struct node *old = change->old;
	const char *outer = indent_of(splicer, entry_start(old));
	const char *inner =
		arena_printf(splicer->arena, "%s%s", outer, style->unit);
	struct buf out;

	if (has_comment(splicer, old->start, old->end)) {
		refuse_changes(splicer, change, "the value contains comments");
		return;
	}
	buf_init(&out);
	add_entries(splicer, change, style, inner, &out);
	if (style->lines && change->added) {
		buf_adds(&out, style->nl);
		buf_adds(&out, outer);
	}
	splice_put(splicer, old->start + 1, old->end - 1, &out);
}

static const struct node *last_kept(const struct splice_change *change)
{
	const struct node *last = NULL;

	for (const struct node *child = change->old->first; child;
	     child = child->next)
		if (!is_removed(change, child))
			last = child;
	return last;
}

static void flow_add(struct splicer *splicer,
		     const struct splice_change *change,
		     const struct style *style)
{
	const struct node *last = last_kept(change);
	const char *indent = indent_of(splicer, entry_start(last));
	struct buf out;

	if (last->flags & (NODE_ALIASED | NODE_MERGED | NODE_IMPLICIT) ||
	    !only_space(splicer, change->old->last->end, change->old->end - 1,
			',')) {
		refuse_changes(splicer, change, unusual);
		return;
	}
	buf_init(&out);
	add_entries(splicer, change, style, indent, &out);
	splice_put(splicer, last->end, last->end, &out);
}

/* --- removing ------------------------------------------------------------ */

/* True if there is at most a comma, and no comment, between the entry and the
 * previous one. */
static bool clean_before(const struct splicer *splicer,
			 const struct splice_change *change,
			 const struct node *child)
{
	const struct node *before;
	uint32_t from = change->old->start + 1;

	if (child->index) {
		before = child_of(change, child->index - 1);
		if (before->flags &
		    (NODE_ALIASED | NODE_MERGED | NODE_IMPLICIT))
			return false;
		from = before->end;
	}
	return only_space(splicer, from, entry_start(child),
			  child->index ? ',' : '\0') &&
	       !has_comment(splicer, from, entry_start(child));
}

static const char *cut_reason(const struct splicer *splicer,
			      const struct splice_change *change,
			      const struct node *child)
{
	const char *reason = fixed_reason(child);

	if (reason)
		return reason;
	if (child->flags & NODE_IMPLICIT ||
	    !clean_before(splicer, change, child))
		return unusual;
	if (has_comment(splicer, child->start, child->end))
		return "the value contains comments";
	return NULL;
}

/* Removes a run of adjacent entries, first..last. */
static void cut_run(struct splicer *splicer, const struct splice_change *change,
		    const struct node *first, const struct node *last)
{
	const struct node *next = last->next;
	uint32_t from = entry_start(first), to = last->end;
	const char *reason = NULL;
	const struct node *child;

	for (child = first; child != next && !reason; child = child->next)
		reason = cut_reason(splicer, change, child);
	if (!reason && next) {
		to = entry_start(next);
		if (next->flags & (NODE_ALIASED | NODE_MERGED) ||
		    !clean_before(splicer, change, next))
			reason = unusual;
	} else if (!reason) {
		from = child_of(change, first->index - 1)->end;
	}
	if (!reason)
		splice_cut(splicer, from, to);
	for (child = first; reason && child != next; child = child->next)
		splice_refuse(splicer, change->by_index[child->index], reason);
}

static void flow_remove(struct splicer *splicer,
			const struct splice_change *change)
{
	const struct node *child = change->old->first;

	while (child) {
		const struct node *last = child;

		if (!is_removed(change, child)) {
			child = child->next;
			continue;
		}
		while (last->next && is_removed(change, last->next))
			last = last->next;
		cut_run(splicer, change, child, last);
		child = last->next;
	}
}

static const char *fill_reason(const struct node *old)
{
	const char *reason = NULL;

	for (const struct node *child = old->first; child && !reason;
	     child = child->next)
		reason = fixed_reason(child);
	return reason;
}

void flow_change(struct splicer *splicer, const struct splice_change *change)
{
	const char *reason = NULL;
	struct style style;

	if (!has_brackets(splicer, change->old))
		reason = no_brackets;
	else if (change->emptied)
		reason = fill_reason(change->old);
	if (reason) {
		refuse_changes(splicer, change, reason);
		return;
	}
	learn_flow(splicer, change->old, &style);
	if (change->emptied) {
		flow_fill(splicer, change, &style);
		return;
	}
	if (change->removed)
		flow_remove(splicer, change);
	if (change->added)
		flow_add(splicer, change, &style);
}

/* --- replacing ----------------------------------------------------------- */

void flow_replace(struct splicer *splicer, const struct edit_place *place)
{
	const struct node *old = place->old;
	const char *reason = fixed_reason(old);
	bool implicit = old->flags & NODE_IMPLICIT;
	struct style style;
	struct buf out;
	uint32_t colon = 0;

	if (old->key)
		colon = behind_colon(splicer, old);
	if (!reason && old->key &&
	    (!colon ||
	     (!implicit && !only_space(splicer, colon, old->start, '\0'))))
		reason = unusual;
	if (!reason && !old->key && implicit)
		reason = unusual;
	if (!reason && has_comment(splicer, old->start, old->end))
		reason = "the value contains comments";
	if (reason) {
		splice_refuse(splicer, place, reason);
		return;
	}
	learn_flow(splicer, old->parent, &style);
	buf_init(&out);
	if (implicit)
		buf_addc(&out, ' ');
	text_flow(&out, new_value(splicer, place), &style,
		  indent_of(splicer, entry_start(old)));
	if (implicit)
		splice_put(splicer, colon, colon, &out);
	else
		splice_put(splicer, old->start, old->end, &out);
}
