/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the table as JSON and as Markdown (for pull requests). Amounts are
 * quantities in the text form of Kubernetes.
 */
#include <string.h>
#include <time.h>

#include "base/json_stream.h"
#include "quota.h"

static void put_amount(struct buf *out, const char *key, struct quantity q)
{
	char text[QUANTITY_TEXT];

	stream_text(out, key, quantity_text(q, text));
}

static struct quantity excess(const struct quota_row *row, bool peak)
{
	struct quantity q = quota_row_excess(row, peak);

	return q.nano > 0 ? q : quantity_from(0);
}

static void put_item(struct buf *out, const struct quota_item *item, bool since)
{
	stream_open(out, NULL, '{');
	stream_text(out, "file", item->path);
	stream_int(out, "line", item->line);
	stream_int(out, "column", item->column);
	stream_open(out, "object", '{');
	stream_text(out, "apiVersion", item->id.api_version);
	stream_text(out, "kind", item->id.kind);
	stream_text(out, "namespace", item->id.namespace);
	stream_text(out, "name", item->id.name);
	stream_close(out, '}');
	put_amount(out, "steady", item->steady);
	put_amount(out, "peak", item->peak);
	put_amount(out, "running", item->running);
	stream_bool(out, "suspended", item->suspended);
	stream_bool(out, "queued", item->queued);
	stream_bool(out, "lowerBound", item->unknown);
	if (since) {
		put_amount(out, "before", item->before);
		stream_bool(out, "added", !item->was);
		stream_bool(out, "removed", !item->now);
	}
	stream_close(out, '}');
}

static void put_row(struct buf *out, const struct quota_row *row, bool since)
{
	stream_open(out, NULL, '{');
	stream_text(out, "namespace", row->namespace);
	stream_text(out, "resource", row->resource);
	if (quota_row_unknown(row))
		stream_text(out, "unknown", quota_row_unknown(row));
	if (row->quota) {
		stream_text(out, "quota", row->quota);
		put_amount(out, "hard", row->hard);
		if (row->used_known)
			put_amount(out, "used", row->used);
	}
	put_amount(out, "adds", row->adds);
	put_amount(out, "addsPeak", row->adds_peak);
	if (row->quota) {
		put_amount(out, "after", quota_row_after(row, false));
		put_amount(out, "afterPeak", quota_row_after(row, true));
		put_amount(out, "excess", excess(row, false));
		put_amount(out, "excessPeak", excess(row, true));
	}
	if (since)
		put_amount(out, "before", row->before);
	stream_open(out, "workloads", '[');
	for (size_t i = 0; i < row->n; i++)
		put_item(out, &row->items[i], since);
	stream_close(out, ']');
	stream_close(out, '}');
}

static void put_cluster(struct buf *out, const struct cluster *cluster)
{
	time_t taken = (time_t)cluster_taken_at(cluster);
	char text[40] = "";
	struct tm tm;

	if (gmtime_r(&taken, &tm))
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	stream_open(out, "cluster", '{');
	stream_text(out, "takenAt", text);
	stream_text(out, "server", cluster_server(cluster));
	stream_close(out, '}');
}

void quota_json(const struct quota_table *t, struct buf *out)
{
	stream_open(out, NULL, '{');
	stream_int(out, "version", 1);
	if (t->cluster)
		put_cluster(out, t->cluster);
	stream_bool(out, "lowerBound", t->unknown);
	stream_open(out, "rows", '[');
	for (size_t i = 0; i < t->n; i++)
		put_row(out, &t->rows[i], t->since);
	stream_close(out, ']');
	stream_close(out, '}');
	buf_addc(out, '\n');
}

/* --- Markdown ------------------------------------------------------------- */

/* Adds a text of the manifest as inline code: `|` is escaped, a backtick
 * becomes an apostrophe, and control characters become spaces. */
static void add_code(struct buf *out, const char *text)
{
	buf_addc(out, '`');
	for (; *text; text++) {
		if (*text == '|')
			buf_adds(out, "\\|");
		else if (*text == '`')
			buf_addc(out, '\'');
		else
			buf_addc(out,
				 (unsigned char)*text < 0x20 ? ' ' : *text);
	}
	buf_addc(out, '`');
}

/* Adds the text of a table's cell, with Markdown escaped and control characters
 * replaced by spaces. */
static void add_plain(struct buf *out, const char *text)
{
	for (; *text; text++) {
		if (strchr("\\`*_[]<>&|#~!", *text))
			buf_addc(out, '\\');
		buf_addc(out, (unsigned char)*text < 0x20 ? ' ' : *text);
	}
}

static struct quantity steady_sum(const struct quota_row *row)
{
	struct quantity sum = quantity_from(0);

	for (size_t i = 0; i < row->n; i++)
		sum = quantity_add(sum, row->items[i].steady);
	return sum;
}

static void add_verdict(struct buf *out, const struct quota_row *row)
{
	static const char *const signs[] = {
		[QUOTA_UNKNOWN] = "",
		[QUOTA_UNLIMITED] = "",
		[QUOTA_FITS] = "\u2705 ",
		[QUOTA_FITS_NOT_AT_PEAK] = "\u26a0\ufe0f ",
		[QUOTA_EXCEEDED] = "\u274c ",
	};
	struct buf verdict;

	buf_init(&verdict);
	quota_row_verdict(row, &verdict);
	buf_adds(out, signs[quota_row_fit(row)]);
	add_plain(out, verdict.data);
	buf_release(&verdict);
}

static void add_row(struct buf *out, const struct quota_table *t,
		    const struct quota_row *row)
{
	buf_adds(out, "| ");
	add_code(out, *row->namespace ? row->namespace : "?");
	buf_adds(out, " | ");
	add_code(out, row->resource);
	buf_adds(out, " | ");
	if (t->since) {
		quota_add_amount(out, row->before);
		buf_adds(out, " | ");
	}
	quota_add_amount(out, steady_sum(row));
	buf_adds(out, " | ");
	if (row->used_known)
		quota_add_amount(out, row->used);
	buf_adds(out, " | ");
	if (row->quota) {
		quota_add_amount(out, row->hard);
		buf_adds(out, " (");
		add_code(out, row->quota);
		buf_addc(out, ')');
	}
	buf_adds(out, " | ");
	add_verdict(out, row);
	buf_adds(out, " |\n");
}

static void add_change(struct buf *out, const struct quota_row *row,
		       const struct quota_item *item)
{
	struct quantity delta = quantity_sub(item->steady, item->before);

	buf_adds(out, delta.nano > 0 ? "- **+" : "- **");
	quota_add_amount(out, delta);
	buf_adds(out, "** ");
	add_code(out, row->resource);
	buf_adds(out, " ");
	add_code(out, item->id.kind);
	buf_adds(out, " ");
	add_code(out, item->id.name);
	buf_adds(out, !item->was ? " (new) " : item->now ? " " : " (removed) ");
	add_code(out, item->path);
	buf_addf(out, ":%u\n", item->line);
}

static void add_changes(struct buf *out, const struct quota_table *t)
{
	bool any = false;

	buf_addc(out, '\n');
	for (size_t i = 0; i < t->n; i++)
		for (size_t k = 0; k < t->rows[i].n; k++) {
			const struct quota_item *item = &t->rows[i].items[k];

			if (!quantity_cmp(item->steady, item->before))
				continue;
			add_change(out, &t->rows[i], item);
			any = true;
		}
	if (!any)
		buf_adds(out, "No requests change.\n");
}

void quota_markdown(const struct quota_table *t, struct buf *out)
{
	buf_adds(out, "### GPU requests\n\n");
	if (!t->n) {
		buf_adds(out, "No workload requests an accelerator.\n");
		return;
	}
	buf_addf(out,
		 "| namespace | resource |%s requested | used | limit | |\n",
		 t->since ? " before |" : "");
	buf_addf(out, "|---|---|%s---:|---:|---|---|\n",
		 t->since ? "---:|" : "");
	for (size_t i = 0; i < t->n; i++)
		add_row(out, t, &t->rows[i]);
	if (t->since)
		add_changes(out, t);
	if (t->unknown)
		buf_adds(out, "\nSums are lower bounds: some values are "
			      "filled in later.\n");
}
