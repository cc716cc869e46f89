/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Splices a plan into a text, and verifies the new text. Walks over the plan,
 * children before their parents, so that text inserted for inner values
 * precedes text inserted for outer ones at the same offset. The style of a map
 * or list, block or flow, decides how it is changed.
 *
 * A new line is inserted at the end of the previous line and begins with the
 * line end: it follows the comment of that line, and a file without a final
 * line end remains without one. In the same way, lines are removed from line
 * end to line end.
 */
#include "doc/splice.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/err.h"
#include "rules/doc/yaml/scalar/yaml_scalar.h"
#include "splice_internal.h"

/*
 * True if a map or list contains only plain entries: no merge (<<), and no
 * duplicate key, whose first value would become effective when the last one is
 * removed.
 */
static bool only_entries(const struct splicer *splicer, const struct node *node)
{
	bool flow = node->flags & NODE_FLOW;
	uint32_t at = node->start + flow;

	if (node->type == NODE_SEQ)
		return true;
	FOR_EACH_CHILD(node, child) {
		char comma = flow && child != node->first ? ',' : '\0';

		if (child->flags & NODE_MERGED ||
		    !only_space(splicer, at, child->key_start, comma))
			return false;
		at = child->flags & NODE_ALIASED ? alias_end(splicer, child)
						 : entry_end(splicer, child);
		if (!at)
			return false;
	}
	return only_space(splicer, at, node->end - flow, flow ? ',' : '\0');
}

/* True for `limits: {}` among block entries, to which a first entry is added in
 * block style. */
static bool opens_block(const struct splicer *splicer, const struct node *old)
{
	return !splicer->doc->json && old->flags & NODE_FLOW && !old->len &&
	       old->key && !(old->parent->flags & NODE_FLOW);
}

static void change_level(struct splicer *splicer,
			 const struct edit_place *place, const char *reason)
{
	struct splice_change change;
	bool any = false;

	for (const struct edit_place *child = place->first; child && !any;
	     child = child->next)
		any = child->state == PLACE_NEW ||
		      (child->old && child->state == PLACE_REMOVED);
	if (!any)
		return;
	change_collect(splicer, place, &change);
	if (!reason && change.removed && !only_entries(splicer, place->old))
		reason = "the map contains a merge (<<) or a duplicate key";
	if (!reason)
		change_rename(splicer, &change);
	if (reason)
		refuse_changes(splicer, &change, reason);
	else if (opens_block(splicer, place->old))
		block_replace(splicer, place);
	else if (place->old->flags & NODE_FLOW)
		flow_change(splicer, &change);
	else
		block_change(splicer, &change);
}

static void walk(struct splicer *splicer, const struct edit_place *place,
		 const char *reason)
{
	if (!reason)
		reason = shared_reason(place->old);
	for (const struct edit_place *child = place->first; child;
	     child = child->next) {
		if (!child->old)
			continue;
		if (child->state == PLACE_KEPT)
			walk(splicer, child, reason);
		else if (child->state != PLACE_REPLACED)
			continue;
		else if (reason)
			splice_refuse(splicer, child, reason);
		else if (place->old->flags & NODE_FLOW)
			flow_replace(splicer, child);
		else
			block_replace(splicer, child);
	}
	change_level(splicer, place, reason);
}

/* True if YAML would read every number in the value as the same number: YAML
 * reads integers beyond 64 bits as floats, keeps 17 digits of floats, and reads
 * numbers that are too large for a float as strings. */
static bool survives_yaml(struct arena *arena, const struct node *value)
{
	struct node again = {0};
	struct scalar scalar;

	FOR_EACH_CHILD(value, child) {
		if (!survives_yaml(arena, child))
			return false;
	}
	if (value->type != NODE_INT && value->type != NODE_FLOAT)
		return true;
	scalar_resolve(value->str, value->len, NULL, &scalar);
	return scalar_to_node(arena, &scalar, value->str, value->len, &again) &&
	       node_same(value, &again);
}

static void refuse_numbers(struct splicer *splicer,
			   const struct edit_place *place)
{
	if (place->claim == CLAIM_LEAF && place->state != PLACE_KEPT &&
	    place->leaf && !survives_yaml(splicer->arena, place->leaf))
		splice_refuse(splicer, place, "YAML would change the number");
	for (const struct edit_place *child = place->first; child;
	     child = child->next)
		refuse_numbers(splicer, child);
}

static const char *document_reason(const struct doc *doc)
{
	if (doc->host)
		return "the document is a string of another document";
	if (doc->source->transcoded)
		return "the file is not UTF-8";
	return NULL;
}

/* --- order --------------------------------------------------------------- */

static int by_offset(const void *a, const void *b)
{
	const struct splice *x = *(const struct splice *const *)a;
	const struct splice *y = *(const struct splice *const *)b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->end != y->end)
		return x->end < y->end ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* Joins two adjacent splices that remove text and overlap, as they may in a
 * line end at the start of a file. Returns false for other splices. */
static bool joins(struct splice *last, const struct splice *next)
{
	if (next->start >= last->end || next->len || last->len)
		return false;
	if (next->end > last->end)
		last->end = next->end;
	return true;
}

static void hand_over(struct splicer *splicer, struct splice_list *to)
{
	struct splice_list *out = &splicer->out;
	const struct splice **sorted =
		ARENA_ARRAY(splicer->arena, const struct splice *, out->n);

	for (size_t i = 0; i < out->n; i++)
		sorted[i] = &out->items[i];
	if (out->n)
		qsort(sorted, out->n, sizeof(*sorted), by_offset);
	for (size_t i = 0; i < out->n; i++)
		if (!i || !joins(&to->items[to->n - 1], sorted[i]))
			*VEC_PUSH(splicer->arena, to->items, to->n, to->size) =
				*sorted[i];
}

void edits_splice(struct edit_list *list, const struct doc *doc,
		  struct arena *arena, struct splice_list *splices)
{
	const char *reason = document_reason(doc);
	struct splicer splicer = {
		.arena = arena,
		.doc = doc,
		.text = doc->source->text,
		.len = (uint32_t)doc->source->len,
	};

	do {
		splicer.out.n = 0;
		plan_make(&splicer.plan, list, doc->root, arena);
		if (!doc->json)
			refuse_numbers(&splicer, &splicer.plan.root);
		if (splicer.plan.root.state == PLACE_REPLACED)
			plan_refuse(&splicer.plan, &splicer.plan.root,
				    doc->root, "the whole document changes");
		else
			walk(&splicer, &splicer.plan.root, reason);
	} while (splicer.plan.refused);
	hand_over(&splicer, splices);
}

/*
 * Applies splices and verifies the result: the new text is parsed as a file,
 * and every document must have its expected content. Callers verify the text
 * before they write a file, so that a defect of this code cannot break a
 * manifest.
 */

void splices_apply(const char *text, size_t len,
		   const struct splice_list *splices, struct buf *out)
{
	uint32_t at = 0;

	for (size_t i = 0; i < splices->n; i++) {
		const struct splice *splice = &splices->items[i];

		if (splice->start < at || splice->end < splice->start ||
		    splice->end > len)
			BUG("splice %zu: %u-%u behind %u of %zu", i,
			    splice->start, splice->end, at, len);
		buf_add(out, text + at, splice->start - at);
		buf_add(out, splice->text, splice->len);
		at = splice->end;
	}
	buf_add(out, text + at, len - at);
}

/* A text that is parsed again: the one before or the one after the edits. */
struct rereading {
	struct arena arena;
	struct source source;
	struct loader loader;
	unsigned refusals;
};

static void count_refusals(void *context, const struct load_issue *issue)
{
	struct rereading *reading = context;

	reading->refusals += issue->kind == LOAD_SYNTAX;
}

static void reading_start(struct rereading *reading, const char *name,
			  const char *text, size_t len)
{
	*reading = (struct rereading){.arena = ARENA_INIT};
	/* The file's byte order mark was removed already; another one would be
	 * text. */
	source_init(&reading->source, &reading->arena, name, "", 0);
	reading->source.text = text;
	reading->source.len = len;
	loader_init(&reading->loader, &reading->source, &load_limits_default,
		    &reading->arena);
	reading->loader.issue = count_refusals;
	reading->loader.context = reading;
}

static int compare(struct rereading *before, struct rereading *after,
		   const struct splice_expect *expect, size_t n,
		   struct err *err)
{
	struct doc old, new;

	for (;;) {
		int more = loader_next(&before->loader, &old);
		const struct node *wanted = old.root;

		if (loader_next(&after->loader, &new) != more)
			return err_set(err, 0,
				       "the file would have a different number "
				       "of documents");
		if (!more)
			break;
		if (n && expect->number == old.number) {
			wanted = expect++->root;
			n--;
		}
		if (wanted ? !node_same(wanted, new.root) : !!new.root)
			return err_set(err, 0,
				       "document %u would not read as intended",
				       new.number);
	}
	if (n || before->refusals != after->refusals)
		return err_set(err, 0, "the file would not read as before");
	return 0;
}

int splices_check(const struct source *before, const struct buf *after,
		  const struct splice_expect *expect, size_t n, struct err *err)
{
	struct rereading old, new;
	int status;

	reading_start(&old, before->name, before->text, before->len);
	reading_start(&new, before->name, after->data, after->len);
	status = compare(&old, &new, expect, n, err);
	arena_release(&old.arena);
	arena_release(&new.arena);
	return status;
}
