/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One table per file, for a job summary or a comment. All text of the manifest
 * is written with HTML entities, which Markdown shows as plain characters, so
 * that it cannot form tables, links or tags. A step summary is limited to 1
 * MiB; further findings are only counted.
 */
#include <inttypes.h>
#include <string.h>

#include "lint/report/parts/report_common.h"
#include "lint/term/escape.h"

enum { BYTES_MAX = 1000000 };

struct markdown {
	struct report r;
	uint64_t written, left_out;
};

static void flush(struct markdown *state)
{
	state->written += state->r.buf.len;
	report_flush(state->r.out, &state->r.buf);
}

static void add_text(struct buf *out, const char *s, size_t len)
{
	static const char special[] = "&<>\\`*_[]|~#@$:";

	for (size_t i = 0; i < len;) {
		size_t plain = i;

		while (plain < len && !strchr(special, s[plain]))
			plain++;
		escape_add(out, s + i, plain - i);
		if (plain < len)
			buf_addf(out, "&#%d;", s[plain++]);
		i = plain;
	}
}

static void add_row(struct markdown *state, const struct finding *finding)
{
	struct buf *buf = &state->r.buf;

	buf_addf(buf, "| %u:%u | %s | %s | ", finding->place.line,
		 finding->place.column, severity_name(finding->severity),
		 finding->rule->name);
	add_message(buf, finding->message, add_text);
	buf_adds(buf, " | ");
	buf_reset(&state->r.text);
	finding_subject(finding, &state->r.text);
	add_text(buf, state->r.text.data, state->r.text.len);
	buf_adds(buf, " |\n");
}

static void markdown_file(void *context, const struct report_file *file,
			  const struct finding *findings, size_t n)
{
	struct markdown *state = context;
	bool open = false;

	for (size_t i = 0; i < n; i++) {
		if (findings[i].suppressed)
			continue;
		tally_finding(&state->r.tally, &findings[i]);
		if (state->written > BYTES_MAX) {
			state->left_out++;
			continue;
		}
		if (!open) {
			buf_adds(&state->r.buf, "### ");
			add_text(&state->r.buf, file->path, strlen(file->path));
			buf_adds(
				&state->r.buf,
				"\n\n| Place | Severity | Rule | Finding |"
				" Object |\n| --- | --- | --- | --- | --- |\n");
		}
		open = true;
		add_row(state, &findings[i]);
		flush(state);
	}
	if (open)
		buf_addc(&state->r.buf, '\n');
	flush(state);
}

static void add_tally(struct markdown *state)
{
	tally_sort(&state->r.tally);
	buf_adds(&state->r.buf,
		 "\n| Findings | Severity | Rule |\n| ---: | --- | --- |\n");
	for (size_t i = 0; i < state->r.tally.n; i++) {
		const struct tally_rule *item = &state->r.tally.items[i];

		buf_addf(&state->r.buf, "| %" PRIu64 " | %s | %s |\n",
			 item->count, severity_name(item->severity),
			 item->rule->name);
	}
}

/* Adds a paragraph for each line. */
static void add_paragraphs(struct buf *out, const char *s)
{
	for (const char *end; (end = strchr(s, '\n')); s = end + 1) {
		add_text(out, s, (size_t)(end - s));
		buf_adds(out, end[1] ? "\n\n" : "\n");
	}
}

static void markdown_end(void *context, const struct report_summary *summary)
{
	struct markdown *state = context;

	if (state->left_out) {
		add_count(&state->r.buf, state->left_out, "more finding",
			  "more findings");
		buf_adds(&state->r.buf,
			 " left out: a step summary is limited to"
			 " 1 MiB.\n\n");
	}
	buf_reset(&state->r.text);
	summary_add_line(summary, &state->r.text);
	summary_add_not_run(summary, &state->r.text);
	add_paragraphs(&state->r.buf, state->r.text.data);
	if (state->r.options.statistics && state->r.tally.n)
		add_tally(state);
}

const struct report_format report_markdown = {
	.name = "markdown",
	.help = "tables, for a job summary or a comment",
	.size = sizeof(struct markdown),
	.head = "## gpugate\n\n",
	.file = markdown_file,
	.end = markdown_end,
};
