/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds the map to a page, and below it a table with more details: each quota
 * and its workloads.
 */
#include <string.h>

#include "lint/report/html/html.h"
#include "lint/term/escape.h"
#include "lint/term/program.h"
#include "quota.h"

static void add_amount(struct buf *out, bool known, struct quantity q)
{
	char text[QUANTITY_TEXT];

	buf_addf(out, "<td class=\"num\">%s</td>",
		 known ? quantity_text(q, text) : "");
}

static void add_text(struct buf *out, const char *text)
{
	buf_adds(out, "<td>");
	xml_add(out, text);
	buf_adds(out, "</td>");
}

static void add_verdict(struct buf *out, const struct quota_row *row)
{
	static const char *const classes[] = {
		[QUOTA_UNKNOWN] = "info",
		[QUOTA_UNLIMITED] = "info",
		[QUOTA_FITS] = "good",
		[QUOTA_FITS_NOT_AT_PEAK] = "warning",
		[QUOTA_EXCEEDED] = "error",
	};
	struct buf verdict;

	buf_init(&verdict);
	quota_row_verdict(row, &verdict);
	buf_addf(out, "<td><span class=\"pill %s\">",
		 classes[quota_row_fit(row)]);
	xml_add(out, verdict.data);
	buf_adds(out, "</span>");
	buf_release(&verdict);
}

static void add_item(struct buf *out, const struct quota_item *item)
{
	char text[QUANTITY_TEXT];

	buf_addf(out, "<li>%s: ", quantity_text(item->steady, text));
	xml_add(out, item->id.kind);
	buf_addc(out, ' ');
	xml_add(out, *item->id.name ? item->id.name : "(no name)");
	buf_adds(out, " <span class=\"path soft\">");
	xml_add(out, item->path);
	buf_addf(out, ":%u</span>", item->line);
	if (quantity_cmp(item->peak, item->steady) > 0)
		buf_addf(out, ", peak %s", quantity_text(item->peak, text));
	buf_addf(out, "%s%s%s</li>\n", item->suspended ? ", suspended" : "",
		 item->queued ? ", in a Kueue queue" : "",
		 item->unknown ? ", at least: some of it is unknown" : "");
}

static void add_row(struct buf *out, const struct quota_row *row)
{
	buf_adds(out, "<tr>");
	add_text(out, *row->namespace ? row->namespace : "(unknown)");
	add_text(out, row->resource);
	add_text(out, row->quota ? row->quota : "");
	add_amount(out, row->used_known, row->used);
	add_amount(out, true, row->adds);
	add_amount(out, row->quota, quota_row_after(row, false));
	add_amount(out, row->quota, row->hard);
	add_verdict(out, row);
	if (row->n) {
		buf_addf(out,
			 "<details><summary>%zu workload%s</summary><ul>\n",
			 row->n, row->n == 1 ? "" : "s");
		for (size_t i = 0; i < row->n; i++)
			add_item(out, &row->items[i]);
		buf_adds(out, "</ul></details>");
	}
	buf_adds(out, "</td></tr>\n");
}

static void add_table(struct buf *out, const struct quota_table *t)
{
	static const char *const heads[] = {"namespace", "resource", "quota"};
	static const char *const sums[] = {"used", "these manifests", "sum",
					   "limit"};

	buf_adds(out, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
		      "aria-label=\"Quotas\"><table class=\"quotas\">"
		      "<thead><tr>");
	for (size_t i = 0; i < 3; i++)
		buf_addf(out, "<th scope=\"col\">%s</th>", heads[i]);
	for (size_t i = 0; i < 4; i++)
		buf_addf(out, "<th scope=\"col\" class=\"num\">%s</th>",
			 sums[i]);
	buf_adds(out, "<th scope=\"col\">verdict</th></tr></thead><tbody>\n");
	for (size_t i = 0; i < t->n; i++)
		add_row(out, &t->rows[i]);
	buf_adds(out, "</tbody></table></div>\n");
}

static void add_picture(struct buf *out, const struct quota_table *t)
{
	buf_adds(out, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
		      "aria-label=\"Map of the quotas\">\n");
	quota_svg(t, out);
	buf_adds(out, "</div>\n");
	add_table(out, t);
	if (t->unknown)
		buf_adds(out, "<p class=\"soft\">Sums are lower bounds: some "
			      "values are filled in later.</p>\n");
}

static bool any_quota(const struct quota_table *t)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->rows[i].quota)
			return true;
	return false;
}

void quota_section(const struct quota_table *t, struct buf *out)
{
	struct buf state;

	if (!any_quota(t) && !(t->cluster && t->n))
		return;
	buf_adds(out, "<details class=\"card\" open><summary><h2>GPU quota"
		      "</h2></summary>\n");
	add_picture(out, t);
	if (t->cluster) {
		buf_init(&state);
		quota_add_state(&state, t);
		buf_adds(out, "<p class=\"soft\">");
		xml_add(out, state.data);
		buf_adds(out, "</p>\n");
		buf_release(&state);
	}
	buf_adds(out, "</details>\n");
}

void quota_page(const struct quota_table *t, struct buf *out)
{
	struct html_head head = {.title = "GPU quota"};
	struct buf state, verdict;
	size_t exceeded = 0;

	for (size_t i = 0; i < t->n; i++)
		exceeded += quota_row_fit(&t->rows[i]) == QUOTA_EXCEEDED;
	buf_init(&state);
	buf_init(&verdict);
	if (t->cluster)
		quota_add_state(&state, t);
	add_count(&verdict, exceeded, "quota exceeded", "quotas exceeded");
	head.below = state.data;
	head.bad = exceeded;
	if (any_quota(t))
		head.verdict = verdict.data;
	html_open(out, &head);
	buf_adds(out, "<div class=\"card\" id=\"findings\">\n");
	add_picture(out, t);
	buf_adds(out, "</div>\n");
	html_close(out, program_version);
	buf_release(&state);
	buf_release(&verdict);
}
