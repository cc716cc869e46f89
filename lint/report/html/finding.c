/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a finding as an article: the message, the place, the lines with the
 * place underlined, the help, and the fix as a diff. The class of an article
 * and its data attributes are single letters, because a report contains
 * thousands of them.
 */
#include <string.h>

#include "html.h"
#include "lint/report/parts/report_common.h"
#include "lint/term/escape.h"
#include "lint/text/excerpt.h"

enum {
	WIDTH = 112, /* largest number of cells of a line */
	MARKS_MAX = 8,
};

/* Collects the places in this file, because only these can be underlined. */
static size_t collect_marks(const struct report_file *file,
			    const struct finding *finding, struct mark *marks)
{
	const struct place *place = &finding->place;
	size_t n = 0;

	marks[n++] =
		(struct mark){place->line, place->start, place->end, true, ""};
	for (unsigned i = 0; i < finding->nrelated && n < MARKS_MAX; i++) {
		const struct related *related = &finding->related[i];

		place = &related->place;
		if (place->file == file->index && place->line)
			marks[n++] = (struct mark){place->line, place->start,
						   place->end, false,
						   related->message};
	}
	return n;
}

/* Adds a line of the excerpt: the gutter, then text or an underline. */
static void add_line(struct buf *out, const char *line, size_t len,
		     size_t gutter)
{
	const char *text = line + gutter, *tag;
	size_t n, blanks;

	if (len < gutter || !strncmp(line, "...", 3)) {
		buf_adds(out, "<i>…</i>\n");
		return;
	}
	n = len - gutter;
	buf_addf(out, "<i>%.*s</i>", (int)gutter, line);
	blanks = strspn(text, " ");
	if (gutter > 1 && line[gutter - 3] == ' ' && blanks < n) {
		tag = text[blanks] == '^' ? "b" : "u";
		buf_addf(out, "%.*s<%s>", (int)blanks, text, tag);
		xml_add_n(out, text + blanks, n - blanks);
		buf_addf(out, "</%s>\n", tag);
		return;
	}
	xml_add_n(out, text, n);
	buf_addc(out, '\n');
}

static void add_excerpt(struct buf *out, const struct report_file *file,
			struct source *source, const struct finding *finding)
{
	struct mark marks[MARKS_MAX];
	struct excerpt excerpt = {
		.source = source,
		.marks = marks,
		.n = collect_marks(file, finding, marks),
		.width = WIDTH,
	};
	struct buf text;

	for (size_t i = 0; i < excerpt.n; i++)
		if (decimal_digits(marks[i].line) > excerpt.gutter)
			excerpt.gutter = decimal_digits(marks[i].line);
	buf_init(&text);
	excerpt_add(&excerpt, &text);
	buf_adds(out, "<pre>");
	for (const char *line = text.data; *line;) {
		size_t len = strcspn(line, "\n");

		add_line(out, line, len, excerpt.gutter + 2);
		line += len + 1;
	}
	buf_adds(out, "</pre>\n");
	buf_release(&text);
}

/* Adds the places in other files. */
static void add_notes(struct buf *out, const struct report_file *file,
		      const struct finding *finding)
{
	bool any = false;

	for (unsigned i = 0; i < finding->nrelated; i++) {
		const struct related *related = &finding->related[i];
		const char *path = place_path(file, &related->place);

		if (related->place.file == file->index && related->place.line)
			continue;
		buf_adds(out, any ? "<li>" : "<ul><li>");
		any = true;
		if (*path) {
			buf_adds(out, "<span class=\"path\">");
			xml_add(out, path);
			buf_addf(out, ":%u</span>: ", related->place.line);
		}
		add_message(out, related->message, xml_add_n);
	}
	buf_adds(out, any ? "</ul>\n" : "");
}

/* Adds a line of the form " | - text". */
static void add_diff_line(struct buf *out, const char *line, size_t len)
{
	const char *bar = memchr(line, '|', len);
	const char *tag;

	if (!bar || bar + 2 > line + len)
		return;
	len -= (size_t)(bar + 2 - line);
	line = bar + 2;
	tag = *line == '-' ? "del" : *line == '+' ? "ins" : "i";
	buf_addf(out, "<%s>", tag);
	xml_add_n(out, line, len);
	buf_addf(out, "\n</%s>", tag);
}

static void add_repair(struct buf *out, struct source *source,
		       const struct fix_result *repair)
{
	struct buf diff;

	buf_addf(out, "<p><strong>%s:</strong> ",
		 repair->safe ? "Fix" : "Fix (opt-in)");
	add_message(out, repair->title, xml_add_n);
	if (*repair->refused) {
		buf_adds(out, " (by hand: ");
		add_message(out, repair->refused, xml_add_n);
		buf_addc(out, ')');
	}
	buf_adds(out, "</p>\n");
	if (!source || !repair->nedits)
		return;
	buf_init(&diff);
	fix_add_lines(&diff, source, repair, 0, WIDTH);
	buf_adds(out, "<pre>");
	for (const char *line = diff.data; *line;) {
		size_t len = strcspn(line, "\n");

		add_diff_line(out, line, len);
		line += len + 1;
	}
	buf_adds(out, "</pre>\n");
	buf_release(&diff);
}

static void add_advice(struct buf *out, struct source *source,
		       const struct finding *finding)
{
	const char *remedy = finding_remedy(finding);

	if (*remedy) {
		buf_adds(out, "<p><strong>Help:</strong> ");
		add_message(out, remedy, xml_add_n);
		buf_adds(out, "</p>\n");
	}
	if (finding->repair) {
		add_repair(out, source, finding->repair);
	} else if (*finding->wants) {
		buf_adds(
			out,
			"<p><strong>Fix:</strong> not automatic until the policy sets "
			"a value: <code>rules: {");
		xml_add(out, finding->rule->name);
		buf_adds(out, ": {params: {");
		xml_add(out, finding->wants);
		buf_adds(out, "}}}</code></p>\n");
	}
}

/* Adds "23:11 · PyTorchJob ml/llm › Worker › trainer · rule". */
static void add_where(struct buf *out, const struct finding *finding)
{
	struct buf subject;

	buf_init(&subject);
	finding_subject(finding, &subject);
	buf_addf(out, "<p class=\"at\">%u:%u", finding->place.line,
		 finding->place.column);
	if (subject.len) {
		buf_adds(out, " · ");
		xml_add(out, subject.data);
	}
	buf_adds(out, " · ");
	html_add_rule(out, finding->rule);
	buf_adds(out, "</p>\n");
	buf_release(&subject);
}

void html_add_finding(struct buf *out, const struct report_file *file,
		      struct source *source, const struct finding *finding)
{
	const char *severity = severity_name(finding->severity);

	buf_addf(out, "<article class=\"%c\"", *severity);
	xml_add_attribute(out, "data-r", finding->rule->name);
	if (*finding->id.namespace)
		xml_add_attribute(out, "data-n", finding->id.namespace);
	buf_addf(out, ">\n<h4><span class=\"pill\">%s</span> ", severity);
	add_message(out, finding->message, xml_add_n);
	buf_adds(out, "</h4>\n");
	add_where(out, finding);
	if (source && finding->place.line)
		add_excerpt(out, file, source, finding);
	add_notes(out, file, finding);
	add_advice(out, source, finding);
	buf_adds(out, "</article>\n");
}
