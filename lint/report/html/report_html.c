/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report as a page. Numbers and summary come first, so findings are stored
 * until the end of the run. The page is readable without its script; with the
 * script, findings can be filtered by rule, namespace, severity, file and text.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "html.h"
#include "lint/report/parts/report_common.h"
#include "lint/term/escape.h"

enum { BAR = 120 /* length of the longest bar */ };

static void add_tile(struct buf *out, const char *class, uint64_t n,
		     const char *label)
{
	buf_addf(out, "<li class=\"%s\"><b>%" PRIu64 "</b>%s</li>\n", class, n,
		 label);
}

static void html_add_tiles(struct buf *out,
			   const struct report_summary *summary)
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

static void html_add_rules(struct buf *out, struct tally *tally)
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

static void html_add_judged(struct buf *out,
			    const struct report_summary *summary)
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

struct html_report {
	struct report r;
	struct spool findings, suppressed;
	uint64_t n, nsuppressed, failing;
};

static void begin(void *context)
{
	struct html_report *state = context;

	if (!state->r.options.fail_on)
		state->r.options.fail_on = "error";
}

static void add_suppressed(struct html_report *state,
			   const struct report_file *file,
			   const struct finding *finding)
{
	struct buf *buf = &state->r.buf;

	buf_adds(buf, "<tr><td>");
	html_add_rule(buf, finding->rule);
	buf_adds(buf, "</td><td class=\"path\">");
	xml_add(buf, file->path);
	buf_addf(buf, ":%u</td><td>%s</td><td>", finding->place.line,
		 suppressed_via_name(finding->suppressed));
	xml_add(buf, finding->suppression_reason);
	buf_adds(buf, "</td></tr>\n");
	state->nsuppressed++;
	spool_add(&state->suppressed, buf);
}

static void begin_file(struct html_report *state, const char *path, size_t n)
{
	buf_adds(&state->r.buf, "<details class=\"file\" open><summary>"
				"<h3 class=\"path\">");
	xml_add(&state->r.buf, path);
	buf_addf(&state->r.buf, "</h3> <span>%zu</span></summary>\n", n);
}

static void add_file(void *context, const struct report_file *file,
		     const struct finding *findings, size_t n)
{
	struct html_report *state = context;
	struct source *source = NULL;
	size_t shown = 0, left;

	for (size_t i = 0; i < n; i++) {
		shown += !findings[i].suppressed;
		if (findings[i].suppressed)
			add_suppressed(state, file, &findings[i]);
	}
	left = shown;
	for (size_t i = 0; i < n && left; i++) {
		const struct finding *finding = &findings[i];

		if (finding->suppressed)
			continue;
		if (left-- == shown) {
			source = file_shown(file);
			begin_file(state, file->path, shown);
		}
		tally_finding(&state->r.tally, finding);
		state->failing +=
			finding_fails(finding, state->r.options.fail_on);
		state->n++;
		html_add_finding(&state->r.buf, file, source, finding);
		spool_add(&state->findings, &state->r.buf);
	}
	if (shown)
		buf_adds(&state->r.buf, "</details>\n");
	spool_add(&state->findings, &state->r.buf);
}

static void add_filter(struct buf *out)
{
	buf_adds(out,
		 "<form id=\"filter\" role=\"search\" "
		 "aria-label=\"Filter the findings\" hidden>\n"
		 "<input type=\"search\" name=\"q\" aria-label=\"Text\" "
		 "placeholder=\"Search ( / )\">\n"
		 "<fieldset aria-label=\"Severity\">"
		 "<label><input type=\"checkbox\" name=\"e\" checked> errors"
		 "</label><label><input type=\"checkbox\" name=\"w\" checked> "
		 "warnings</label><label><input type=\"checkbox\" name=\"i\" "
		 "checked> infos</label></fieldset>\n"
		 "<select name=\"rule\" aria-label=\"Rule\">"
		 "<option value=\"\">all rules</option></select>\n"
		 "<select name=\"namespace\" aria-label=\"Namespace\">"
		 "<option value=\"\">all namespaces</option></select>\n"
		 "<select name=\"file\" aria-label=\"File\">"
		 "<option value=\"\">all files</option></select>\n"
		 "<button type=\"reset\">Clear</button>\n"
		 "<output name=\"count\" aria-live=\"polite\"></output>\n"
		 "</form>\n");
}

/* Writes the numbers of findings that fail the run if fail_on is warning or
 * info: "1 error, 2 warnings". */
static void add_failing(struct buf *out, const struct run_counts *counts,
			const char *fail_on)
{
	size_t start = out->len;

	if (counts->errors)
		add_count(out, counts->errors, "error", "errors");
	if (counts->warnings) {
		buf_adds(out, out->len > start ? ", " : "");
		add_count(out, counts->warnings, "warning", "warnings");
	}
	if (counts->infos && strcmp(fail_on, "info") == 0) {
		buf_adds(out, out->len > start ? ", " : "");
		add_count(out, counts->infos, "info", "infos");
	}
}

static void write_head(struct html_report *state,
		       const struct report_summary *summary)
{
	struct html_head head = {.title = "gpugate report", .below = ""};
	struct buf verdict;

	buf_init(&verdict);
	head.bad = state->failing || summary->failed;
	if (state->failing && strcmp(state->r.options.fail_on, "error") == 0) {
		add_count(&verdict, state->failing, "error", "errors");
		buf_adds(&verdict, ": the check fails");
	} else if (state->failing) {
		add_failing(&verdict, &summary->counts,
			    state->r.options.fail_on);
		buf_adds(&verdict, ": the check fails");
	} else {
		buf_adds(&verdict, summary->failed ? "incomplete: an input "
						     "could not be read"
						   : "passed");
	}
	head.verdict = verdict.data;
	html_open(&state->r.buf, &head);
	html_add_tiles(&state->r.buf, summary);
	if (summary->quotas)
		summary->quotas(summary->context, &state->r.buf);
	html_add_rules(&state->r.buf, &state->r.tally);
	html_add_judged(&state->r.buf, summary);
	buf_release(&verdict);
}

static void write_findings(struct html_report *state)
{
	buf_adds(&state->r.buf, "<h2 id=\"findings\">Findings</h2>\n");
	if (state->n)
		add_filter(&state->r.buf);
	else
		buf_adds(&state->r.buf, "<p class=\"card\">None.</p>\n");
	report_flush(state->r.out, &state->r.buf);
	spool_finish(&state->findings, state->r.out);
}

static void write_suppressed(struct html_report *state)
{
	if (state->nsuppressed)
		buf_addf(&state->r.buf,
			 "<details class=\"card\"><summary><h2>Suppressed "
			 "(%" PRIu64 ")</h2></summary><table><thead><tr>"
			 "<th scope=\"col\">rule</th><th scope=\"col\">place"
			 "</th><th scope=\"col\">by</th><th scope=\"col\">"
			 "reason</th></tr></thead><tbody>\n",
			 state->nsuppressed);
	report_flush(state->r.out, &state->r.buf);
	spool_finish(&state->suppressed, state->r.out);
	if (state->nsuppressed)
		buf_adds(&state->r.buf, "</tbody></table></details>\n");
}

static void end(void *context, const struct report_summary *summary)
{
	struct html_report *state = context;

	write_head(state, summary);
	write_findings(state);
	write_suppressed(state);
	html_close(&state->r.buf, state->r.options.version);
}

const struct report_format report_html = {
	.name = "html",
	.help = "a page to view, filter and print",
	.size = sizeof(struct html_report),
	.begin = begin,
	.file = add_file,
	.end = end,
};
