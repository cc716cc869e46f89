/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints the table as text with bars: each row shows the amount in use, the
 * amount that the manifests add, the free amount and the excess, followed by
 * the workloads.
 */
#include <string.h>

#include "lint/term/escape.h"
#include "quota.h"

enum { CELLS = 30 };

enum part { PART_USED, PART_ADDED, PART_FREE, PART_OVER };

static const struct look {
	const char *plain, *utf8, *color;
} looks[] = {
	[PART_USED] = {"#", "\u2588", "\033[36m"},
	[PART_ADDED] = {"+", "\u2593", "\033[33m"},
	[PART_FREE] = {".", "\u2591", "\033[2m"},
	[PART_OVER] = {"!", "\u2573", "\033[31m"},
};

static void put_part(struct buf *out, const struct quota_look *look,
		     enum part part, int64_t cells)
{
	if (cells <= 0)
		return;
	if (look->color)
		buf_adds(out, looks[part].color);
	while (cells--)
		buf_adds(out,
			 look->utf8 ? looks[part].utf8 : looks[part].plain);
	if (look->color)
		buf_adds(out, "\033[0m");
}

/* Returns the number of cells for n, if the whole bar means `most`; an amount
 * above zero gets at least one cell. */
static int64_t cells_of(struct quantity n, struct quantity most)
{
	int64_t cells;

	if (n.nano <= 0 || most.nano <= 0)
		return 0;
	cells = (int64_t)(n.nano * CELLS / most.nano);
	return cells ? cells : 1;
}

static struct quantity larger(struct quantity a, struct quantity b)
{
	return quantity_cmp(a, b) > 0 ? a : b;
}

/* Draws from left to right the amounts in use and added, the free amount up to
 * the limit and the excess. */
static void put_bar(struct buf *out, const struct quota_look *look,
		    const struct quota_row *row)
{
	struct quantity after = quota_row_after(row, false);
	struct quantity base = row->used;
	struct quantity most = larger(row->hard, larger(after, base));
	int64_t limit = cells_of(row->hard, most);
	int64_t used, end;

	if (quantity_cmp(after, base) < 0)
		base = after; /* a smaller copy replaces the running one */
	used = cells_of(base, most);
	end = cells_of(after, most);
	buf_adds(out, "  [");
	put_part(out, look, PART_USED, used < limit ? used : limit);
	put_part(out, look, PART_OVER, used - limit);
	if (used < limit)
		put_part(out, look, PART_ADDED,
			 (end < limit ? end : limit) - used);
	put_part(out, look, PART_OVER, end - (used > limit ? used : limit));
	put_part(out, look, PART_FREE, limit - (end > used ? end : used));
	buf_adds(out, "]  ");
}

static void put_verdict(struct buf *out, const struct quota_look *look,
			const struct quota_row *row)
{
	enum quota_fit fit = quota_row_fit(row);
	bool painted = look->color && fit != QUOTA_FITS;

	buf_adds(out, ", ");
	if (painted)
		buf_adds(out, fit == QUOTA_EXCEEDED ? "\033[31m" : "\033[33m");
	quota_row_words(row, out);
	if (painted)
		buf_adds(out, "\033[0m");
}

static void put_sum(struct buf *out, const struct quota_look *look,
		    const struct quota_row *row)
{
	if (row->used_known) {
		quota_add_amount(out, row->used);
		buf_adds(out, " used ");
		if (row->adds.nano >= 0)
			buf_adds(out, "+ ");
		quota_add_amount(out, row->adds);
		buf_adds(out, " = ");
	}
	quota_add_amount(out, quota_row_after(row, false));
	buf_adds(out, " of ");
	quota_add_amount(out, row->hard);
	put_verdict(out, look, row);
	if (row->unknown)
		buf_adds(out, "; the used amount is unknown: ");
	escape_adds(out, row->unknown ? row->unknown : "");
	buf_addc(out, '\n');
}

/* Prints the requested amount of a row without a quota: no quota applies, or a
 * reason why quotas are unknown. */
static void put_unlimited(struct buf *out, const struct quota_row *row)
{
	const char *unknown = quota_row_unknown(row);

	buf_adds(out, "  ");
	quota_add_amount(out, row->adds);
	buf_adds(out, unknown ? "; quota not checked: " : "; no quota applies");
	escape_adds(out, unknown ? unknown : "");
}

static void put_head(struct buf *out, const struct quota_look *look,
		     const struct quota_row *row)
{
	if (look->color)
		buf_adds(out, "\033[1m");
	/* GitHub's runner would execute a line that begins in this way as a
	 * command. No cluster accepts such a name. */
	if (*row->namespace == ':' || *row->namespace == '#')
		buf_addc(out, '.');
	escape_adds(out, *row->namespace ? row->namespace : "(no namespace)");
	if (look->color)
		buf_adds(out, "\033[0m");
	buf_adds(out, "  ");
	escape_adds(out, row->resource);
	if (row->quota) {
		buf_adds(out, "  quota ");
		escape_adds(out, row->quota);
	} else {
		put_unlimited(out, row);
	}
	buf_addc(out, '\n');
}

static void put_notes(struct buf *out, const struct quota_item *item,
		      bool since)
{
	if (item->suspended)
		buf_adds(out, "  suspended");
	if (item->queued)
		buf_adds(out, "  in a Kueue queue");
	if (item->unknown)
		buf_adds(out, "  at least: some of it is unknown");
	if (quantity_cmp(item->peak, item->steady) > 0) {
		buf_adds(out, "  peak ");
		quota_add_amount(out, item->peak);
	}
	if (item->running.nano) {
		buf_adds(out, "  runs with ");
		quota_add_amount(out, item->running);
	}
	if (!since || (item->was && !quantity_cmp(item->before, item->steady)))
		return;
	if (!item->was)
		buf_adds(out, "  new");
	else if (!item->now)
		buf_adds(out, "  removed");
	buf_adds(out, "  was ");
	quota_add_amount(out, item->before);
}

static void put_item(struct buf *out, const struct quota_item *item, bool since)
{
	char text[QUANTITY_TEXT];

	buf_addf(out, "  %6s  ", quantity_text(item->steady, text));
	escape_adds(out, item->id.kind);
	buf_addc(out, ' ');
	escape_adds(out, *item->id.name ? item->id.name : "(no name)");
	buf_adds(out, "  ");
	escape_adds(out, item->path);
	buf_addf(out, ":%u", item->line);
	put_notes(out, item, since);
	buf_addc(out, '\n');
}

static void put_legend(struct buf *out, const struct quota_look *look)
{
	static const char *const names[] = {"used", "these manifests", "free",
					    "does not fit"};

	for (int i = 0; i < 4; i++) {
		put_part(out, look, i, 1);
		buf_addf(out, " %s%s", names[i], i < 3 ? "   " : "\n");
	}
}

void quota_text(const struct quota_table *t, const struct quota_look *look,
		struct buf *out)
{
	bool limited = false;

	for (size_t i = 0; i < t->n; i++) {
		const struct quota_row *row = &t->rows[i];

		if (i)
			buf_addc(out, '\n');
		put_head(out, look, row);
		if (row->quota) {
			put_bar(out, look, row);
			put_sum(out, look, row);
			limited = true;
		}
		for (size_t k = 0; k < row->n; k++)
			put_item(out, &row->items[k], t->since);
	}
	if (!t->n)
		buf_adds(out, "no workload requests an accelerator\n");
	if (t->n)
		buf_addc(out, '\n');
	if (limited)
		put_legend(out, look);
	if (t->unknown)
		buf_adds(out, "sums are lower bounds: some values are filled "
			      "in later\n");
	if (t->cluster) {
		quota_add_state(out, t);
		buf_addc(out, '\n');
	}
}
