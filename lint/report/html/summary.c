/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the part of the report before its findings: numbers, rules with
 * findings, inputs that were checked and skipped.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "html.h"
#include "lint/report/parts/report_statistics.h"
#include "lint/text/xml_out.h"

enum { BAR = 120 /* length of the longest bar */ };

static void add_tile(struct buf *out, const char *class, uint64_t n,
		     const char *label)
{
	buf_addf(out, "<li class=\"%s\"><b>%" PRIu64 "</b>%s</li>\n", class, n,
		 label);
}

void html_add_tiles(struct buf *out, const struct report_summary *summary)
{
	const struct run_counts *counts = &summary->counts;
	char requested[64];

	snprintf(requested, sizeof(requested), "%s requested%s",
		 counts->gpus_others ? "accelerators" : "GPUs",
		 counts->gpus_unknown ? " at least" : "");
	buf_adds(out, "<ul class=\"tiles\">\n");
	add_tile(out, "error", counts->errors, "errors");
	add_tile(out, "warning", counts->warnings, "warnings");
	add_tile(out, "info", counts->infos, "infos");
	add_tile(out, "plain", summary->counts.fixable, "fixable by --fix");
	add_tile(out, "plain", counts->objects, "objects");
	add_tile(out, "plain", counts->workloads, "workloads");
	add_tile(out, "plain", (uint64_t)counts->gpus, requested);
	buf_adds(out, "</ul>\n");
}

static void add_rule_row(struct buf *out, const struct tally_rule *item,
			 uint64_t most)
{
	const struct rule *rule = item->rule;
	const char *severity = severity_name(item->severity);
	unsigned bar = (unsigned)(item->count * BAR / most);

	buf_adds(out, "<tr><td class=\"num\"");
	xml_add_attribute(out, "data-rule", rule->name);
	buf_addf(out, ">%" PRIu64 "</td><td class=\"wide\">", item->count);
	buf_addf(out,
		 "<svg class=\"bar\" width=\"%d\" height=\"10\" "
		 "aria-hidden=\"true\"><rect class=\"%s\" width=\"%u\" "
		 "height=\"10\" rx=\"2\"/></svg></td><td>",
		 BAR, severity, bar ? bar : 1);
	html_add_severity(out, item->severity);
	buf_adds(out, "</td><td><strong>");
	html_add_rule(out, rule);
	buf_adds(out, "</strong><br>");
	add_message(out, rule->summary ? rule->summary : "", xml_add_n);
	if (rule->why && *rule->why) {
		buf_adds(out, ". <span class=\"soft\">");
		add_message(out, rule->why, xml_add_n);
		buf_adds(out, "</span>");
	}
	buf_adds(out, "</td></tr>\n");
}

/* Lists the rules with infos, or those with errors and then those with
 * warnings, in the order of the tally. */
static void add_rules(struct buf *out, const struct tally *tally, bool infos)
{
	uint64_t most = 0;

	for (size_t i = 0; i < tally->n; i++)
		if ((tally->items[i].severity == SEVERITY_INFO) == infos &&
		    tally->items[i].count > most)
			most = tally->items[i].count;
	if (!most)
		return;
	buf_addf(out,
		 "<details class=\"card\"%s><summary><h2>%s by rule</h2>"
		 "</summary>\n<table><thead><tr>"
		 "<th scope=\"col\" class=\"num\">findings</th>"
		 "<th scope=\"col\" class=\"wide\">share</th>"
		 "<th scope=\"col\">severity</th><th scope=\"col\">rule, "
		 "what it flags, and why</th></tr></thead><tbody>\n",
		 infos ? "" : " open", infos ? "Infos" : "Errors and warnings");
	for (int s = SEVERITY_ERROR; s >= SEVERITY_INFO; s--)
		for (size_t i = 0; i < tally->n; i++)
			if ((int)tally->items[i].severity == s &&
			    (s == SEVERITY_INFO) == infos)
				add_rule_row(out, &tally->items[i], most);
	buf_adds(out, "</tbody></table></details>\n");
}

void html_add_rules(struct buf *out, struct tally *tally)
{
	tally_sort(tally);
	add_rules(out, tally, false);
	add_rules(out, tally, true);
}

/* Adds each line of the text as a list item. */
static void add_lines(struct buf *out, const char *text)
{
	while (*text) {
		size_t len = strcspn(text, "\n");

		buf_adds(out, "<li>");
		xml_add_n(out, text, len);
		buf_adds(out, "\n");
		text += len + (text[len] != '\0');
	}
}

void html_add_judged(struct buf *out, const struct report_summary *summary)
{
	struct buf text;

	buf_init(&text);
	summary_add_line(summary, &text);
	summary_add_fixable(summary, &text);
	summary_add_not_run(summary, &text);
	buf_adds(out,
		 "<details class=\"card\" open><summary><h2>What was checked, "
		 "and what was not</h2></summary>\n"
		 "<ul>\n");
	add_lines(out, text.data);
	for (size_t i = 0; i < summary->nskipped; i++) {
		buf_adds(out, "<li>skipped <span class=\"path\">");
		xml_add(out, summary->skipped[i].path);
		buf_adds(out, "</span>: ");
		xml_add(out, summary->skipped[i].reason);
		buf_addc(out, '\n');
	}
	buf_adds(out, "</ul></details>\n");
	buf_release(&text);
}
