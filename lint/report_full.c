/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report for people: each finding with the lines it is about, what to do
 * and where to read more; then what was looked at.
 *
 *	error: container `trainer` asks for a GPU without a limit [gpu-limit]
 *	  --> jobs/train.yaml:23:11   PyTorchJob ml/llm › Worker › trainer
 *	   |
 *	23 |           requests: {nvidia.com/gpu: 4}
 *	   |           ^^^^^^^^
 *	   |
 *	   = help: set the same limit
 *	   = docs: gpugate explain gpu-limit
 */
#include <stdlib.h>

#include "excerpt.h"
#include "glyph.h"
#include "report_fix.h"
#include "report_statistics.h"

enum { MARKS_MAX = 8 };

struct full {
	FILE *out;
	struct report_options options;
	struct buf buf, subject;
	struct tally tally;
};

static void *full_begin(FILE *out, const struct report_options *options)
{
	struct full *state = report_alloc(sizeof(*state));

	state->out = out;
	state->options = *options;
	buf_init(&state->buf);
	buf_init(&state->subject);
	return state;
}

static void add_header(struct full *state, const struct finding *finding)
{
	bool color = state->options.color;
	struct buf *buf = &state->buf;

	paint_begin(buf, color, severity_color(finding->severity));
	buf_adds(buf, severity_name(finding->severity));
	paint_end(buf, color);
	paint_begin(buf, color, COLOR_BOLD);
	buf_adds(buf, ": ");
	glyph_adds(buf, finding->message);
	paint_end(buf, color);
	buf_addf(buf, " [%s]\n", finding->rule->name);
}

/* " --> path:line:column   Kind ns/name › role › container" */
static void add_where(struct full *state, const struct report_file *file,
		      const struct finding *finding, unsigned gutter)
{
	bool color = state->options.color;
	struct buf *buf = &state->buf;

	paint_begin(buf, color, COLOR_GUTTER);
	buf_addf(buf, "%*s--> ", (int)gutter, "");
	paint_end(buf, color);
	glyph_adds(buf, file->path);
	buf_addf(buf, ":%u:%u", finding->place.line, finding->place.column);
	buf_reset(&state->subject);
	finding_subject(finding, &state->subject);
	if (state->subject.len) {
		buf_adds(buf, "   ");
		glyph_add(buf, state->subject.data, state->subject.len);
	}
	buf_addc(buf, '\n');
}

static void add_bar(struct full *state, unsigned gutter)
{
	bool color = state->options.color;

	paint_begin(&state->buf, color, COLOR_GUTTER);
	buf_addf(&state->buf, "%*s |", (int)gutter, "");
	paint_end(&state->buf, color);
	buf_addc(&state->buf, '\n');
}

/* "   = help: " */
static void add_tag(struct full *state, unsigned gutter, const char *tag)
{
	bool color = state->options.color;

	paint_begin(&state->buf, color, COLOR_GUTTER);
	buf_addf(&state->buf, "%*s =", (int)gutter, "");
	paint_end(&state->buf, color);
	paint_begin(&state->buf, color, COLOR_BOLD);
	buf_addf(&state->buf, " %s:", tag);
	paint_end(&state->buf, color);
	buf_addc(&state->buf, ' ');
}

static struct mark mark_of(const struct place *place, const char *text)
{
	return (struct mark){.line = place->line,
			     .start = place->start,
			     .end = place->end,
			     .text = text};
}

/* The finding's own place and related ones of the same file. */
static size_t collect_marks(const struct report_file *file,
			    const struct finding *finding, struct mark *marks)
{
	size_t n = 1;

	marks[0] = mark_of(&finding->place, "");
	marks[0].primary = true;
	for (unsigned i = 0; i < finding->nrelated && n < MARKS_MAX; i++) {
		const struct related *related = &finding->related[i];

		if (related->place.file == file->index)
			marks[n++] = mark_of(&related->place, related->message);
	}
	return n;
}

/* Related places that the excerpt does not show. */
static void add_notes(struct full *state, const struct report_file *file,
		      const struct finding *finding, unsigned gutter,
		      bool excerpt)
{
	unsigned shown = 1;

	for (unsigned i = 0; i < finding->nrelated; i++) {
		const struct related *related = &finding->related[i];
		const char *path = place_path(file, &related->place);

		if (excerpt && related->place.file == file->index &&
		    shown++ < MARKS_MAX)
			continue;
		add_tag(state, gutter, "note");
		if (*path) {
			glyph_adds(&state->buf, path);
			buf_addf(&state->buf, ":%u: ", related->place.line);
		}
		glyph_adds(&state->buf, related->message);
		buf_addc(&state->buf, '\n');
	}
}

static void add_repair(struct full *state, struct source *source,
		       const struct fix_result *repair, unsigned gutter)
{
	if (!repair || !source)
		return;
	add_tag(state, gutter, repair->safe ? "fix" : "fix (unsafe)");
	glyph_adds(&state->buf, repair->title);
	if (*repair->refused)
		buf_addf(&state->buf, " (by hand: %s)", repair->refused);
	buf_addc(&state->buf, '\n');
	fix_add_lines(&state->buf, source, repair, gutter);
}

static void add_finding(struct full *state, const struct report_file *file,
			struct source *source, const struct finding *finding)
{
	const char *remedy = finding_remedy(finding);
	struct mark marks[MARKS_MAX];
	struct excerpt excerpt = {
		.source = source,
		.marks = marks,
		.n = collect_marks(file, finding, marks),
		.width = state->options.width,
		.color = state->options.color,
		.severity = finding->severity,
	};

	for (size_t i = 0; i < excerpt.n; i++) {
		unsigned digits = decimal_digits(marks[i].line);

		if (digits > excerpt.gutter)
			excerpt.gutter = digits;
	}
	add_header(state, finding);
	add_where(state, file, finding, excerpt.gutter);
	if (source && finding->place.line) {
		add_bar(state, excerpt.gutter);
		excerpt_add(&excerpt, &state->buf);
		add_bar(state, excerpt.gutter);
	}
	add_notes(state, file, finding, excerpt.gutter, source != NULL);
	if (*remedy) {
		add_tag(state, excerpt.gutter, "help");
		glyph_adds(&state->buf, remedy);
		buf_addc(&state->buf, '\n');
	}
	add_repair(state, source, finding->repair, excerpt.gutter);
	add_tag(state, excerpt.gutter, "docs");
	buf_addf(&state->buf, "gpugate explain %s\n\n", finding->rule->name);
}

static void full_file(void *context, const struct report_file *file,
		      const struct finding *findings, size_t n)
{
	struct full *state = context;
	struct source *source = NULL;
	bool asked = false;

	for (size_t i = 0; i < n; i++) {
		if (findings[i].suppressed)
			continue;
		if (!asked)
			source = file_shown(file);
		asked = true;
		tally_add(&state->tally, &findings[i]);
		add_finding(state, file, source, &findings[i]);
		report_flush(state->out, &state->buf);
	}
}

static void full_end(void *context, const struct report_summary *summary)
{
	struct full *state = context;

	if (state->options.statistics) {
		statistics_add(&state->tally, &state->buf);
		if (state->tally.n && !state->options.quiet)
			buf_addc(&state->buf, '\n');
	}
	if (!state->options.quiet) {
		summary_add_line(summary, &state->buf);
		summary_add_fixable(summary, &state->buf);
		summary_add_not_run(summary, &state->buf);
	}
	report_flush(state->out, &state->buf);
	buf_release(&state->buf);
	buf_release(&state->subject);
	tally_release(&state->tally);
	free(state);
}

const struct report_format report_full = {
	.name = "full",
	.help = "excerpts with the places underlined, for people",
	.begin = full_begin,
	.file = full_file,
	.end = full_end,
};
