/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the default report, for users: the lines of each finding, each place
 * once, with the help and the command that explains the rule. A summary of the
 * input follows. Because a first run finds the same problem in many places,
 * only a few findings of each rule are shown. Others, and infos, are counted.
 *
 *	error: container `trainer` requests a GPU without a limit [gpu-limit]
 *	  --> jobs/train.yaml:23:11   PyTorchJob ml/llm › Worker › trainer
 *	   |
 *	23 |           requests: {nvidia.com/gpu: 4}
 *	   |           ^^^^^^^^
 *	   |
 *	   = help: set the same limit
 *	   = docs: gpugate explain gpu-limit
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "lint/report/parts/report_common.h"
#include "lint/term/escape.h"
#include "lint/term/program.h"
#include "lint/text/excerpt.h"

enum {
	MARKS_MAX = 8,
	SHOWN_OF_RULE = 3,
	LINE = 80, /* width of the list of infos */
	COUNT = 8, /* width of a number with its frame */
};

struct full {
	struct report r;
	struct tally more, infos; /* findings that are not shown, by rule */
};

/* Findings at the same place. */
struct full_block {
	const struct report_file *file;
	struct source *source; /* NULL if the file is gone */
	bool asked;	       /* source was requested */
	const struct finding **findings;
	size_t nfindings;
	struct mark marks[MARKS_MAX];
	size_t n;
	unsigned gutter;
};

static void add_header(struct full *state, const struct finding *finding)
{
	bool color = state->r.options.color;
	struct buf *buf = &state->r.buf;

	paint_begin(buf, color, severity_color(finding->severity));
	buf_adds(buf, severity_name(finding->severity));
	paint_end(buf, color);
	paint_begin(buf, color, COLOR_BOLD);
	buf_adds(buf, ": ");
	escape_adds(buf, finding->message);
	paint_end(buf, color);
	buf_addf(buf, " [%s", finding->rule->name);
	if (*text_or_empty(finding->check))
		buf_addf(buf, "/%s", finding->check);
	buf_adds(buf, "]\n");
}

/* Adds " --> path:line:column Kind ns/name › role › container". */
static void add_where(struct full *state, const struct report_file *file,
		      const struct finding *finding, unsigned gutter)
{
	bool color = state->r.options.color;
	struct buf *buf = &state->r.buf;

	paint_begin(buf, color, COLOR_GUTTER);
	buf_addf(buf, "%*s--> ", (int)gutter, "");
	paint_end(buf, color);
	escape_adds(buf, file->path);
	buf_addf(buf, ":%u:%u", finding->place.line, finding->place.column);
	buf_reset(&state->r.text);
	finding_subject(finding, &state->r.text);
	if (state->r.text.len) {
		buf_adds(buf, "   ");
		escape_add(buf, state->r.text.data, state->r.text.len);
	}
	buf_addc(buf, '\n');
}

static void add_bar(struct full *state, unsigned gutter)
{
	bool color = state->r.options.color;

	paint_begin(&state->r.buf, color, COLOR_GUTTER);
	buf_addf(&state->r.buf, "%*s |", (int)gutter, "");
	paint_end(&state->r.buf, color);
	buf_addc(&state->r.buf, '\n');
}

/* Adds " = help: ". */
static void add_tag(struct full *state, unsigned gutter, const char *tag)
{
	bool color = state->r.options.color;

	paint_begin(&state->r.buf, color, COLOR_GUTTER);
	buf_addf(&state->r.buf, "%*s =", (int)gutter, "");
	paint_end(&state->r.buf, color);
	paint_begin(&state->r.buf, color, COLOR_BOLD);
	buf_addf(&state->r.buf, " %s:", tag);
	paint_end(&state->r.buf, color);
	buf_addc(&state->r.buf, ' ');
}

static bool marks_have(const struct full_block *block,
		       const struct place *place, const char *text)
{
	for (size_t i = 0; i < block->n; i++) {
		const struct mark *mark = &block->marks[i];

		if (mark->line == place->line && mark->start == place->start &&
		    mark->end == place->end && !strcmp(mark->text, text))
			return true;
	}
	return false;
}

/* Adds a mark, unless another finding has the same place. */
static void add_mark(struct full_block *block, const struct place *place,
		     const char *text, bool primary)
{
	struct mark mark = {place->line, place->start, place->end, primary,
			    text};
	unsigned digits = decimal_digits(mark.line);

	if (marks_have(block, place, text) || block->n == MARKS_MAX)
		return;
	block->marks[block->n++] = mark;
	if (digits > block->gutter)
		block->gutter = digits;
}

/* Collects the places of the findings and related places in the same file. */
static void collect_marks(struct full_block *block)
{
	add_mark(block, &block->findings[0]->place, "", true);
	for (size_t i = 0; i < block->nfindings; i++) {
		const struct finding *finding = block->findings[i];

		for (unsigned j = 0; j < finding->nrelated; j++) {
			const struct related *related = &finding->related[j];

			if (related->place.file == block->file->index)
				add_mark(block, &related->place,
					 related->message, false);
		}
	}
}

/* Adds related places that are not in the excerpt. */
static void add_notes(struct full *state, const struct full_block *block,
		      const struct finding *finding)
{
	for (unsigned i = 0; i < finding->nrelated; i++) {
		const struct related *related = &finding->related[i];
		const char *path = place_path(block->file, &related->place);

		if (block->source &&
		    related->place.file == block->file->index &&
		    marks_have(block, &related->place, related->message))
			continue;
		add_tag(state, block->gutter, "note");
		if (*path) {
			escape_adds(&state->r.buf, path);
			buf_addf(&state->r.buf, ":%u: ", related->place.line);
		}
		escape_adds(&state->r.buf, related->message);
		buf_addc(&state->r.buf, '\n');
	}
}

static void add_repair(struct full *state, struct source *source,
		       const struct fix_result *repair, unsigned gutter)
{
	if (!repair || !source)
		return;
	add_tag(state, gutter, repair->safe ? "fix" : "fix (unsafe)");
	escape_adds(&state->r.buf, repair->title);
	if (*repair->refused)
		buf_addf(&state->r.buf, " (not automatic: %s)",
			 repair->refused);
	buf_addc(&state->r.buf, '\n');
	fix_add_lines(&state->r.buf, source, repair, gutter,
		      state->r.options.width);
}

static void add_excerpt(struct full *state, struct full_block *block)
{
	struct excerpt excerpt = {
		.source = block->source,
		.marks = block->marks,
		.n = block->n,
		.gutter = block->gutter,
		.width = state->r.options.width,
		.color = state->r.options.color,
		.severity = block->findings[0]->severity,
	};

	for (size_t i = 1; i < block->nfindings; i++)
		if (block->findings[i]->severity > excerpt.severity)
			excerpt.severity = block->findings[i]->severity;
	add_bar(state, block->gutter);
	excerpt_add(&excerpt, &state->r.buf);
	add_bar(state, block->gutter);
}

/* Adds the command that explains the rule. It is a link (OSC 8) to the rule's
 * page if colors are on and the page's address is known. */
static void add_docs(struct full *state, unsigned gutter,
		     const struct rule *rule)
{
	size_t start;
	bool link;

	add_tag(state, gutter, "docs");
	start = state->r.buf.len;
	buf_adds(&state->r.buf, "\033]8;;");
	link = state->r.options.color && docs_add_page(&state->r.buf, rule);
	if (link) {
		buf_adds(&state->r.buf, "\033\\");
	} else {
		state->r.buf.len = start;
		state->r.buf.data[start] = '\0';
	}
	buf_addf(&state->r.buf, "%s explain %s%s\n", program_name(), rule->name,
		 link ? "\033]8;;\033\\" : "");
}

/* Adds the lines of one finding below the excerpt. */
static void add_advice(struct full *state, const struct full_block *block,
		       const struct finding *finding)
{
	const char *remedy = finding_remedy(finding);

	add_notes(state, block, finding);
	if (*remedy) {
		add_tag(state, block->gutter, "help");
		escape_adds(&state->r.buf, remedy);
		buf_addc(&state->r.buf, '\n');
	}
	add_repair(state, block->source, finding->repair, block->gutter);
	if (!finding->repair && *finding->wants) {
		add_tag(state, block->gutter, "fix");
		buf_addf(
			&state->r.buf,
			"not automatic until the policy sets a value: `rules: {%s: "
			"{params: {%s}}}`\n",
			finding->rule->name, finding->wants);
	}
	add_docs(state, block->gutter, finding->rule);
}

/* Adds the object, if it is not that of the block's first finding. */
static void add_subject(struct full *state, const struct full_block *block,
			const struct finding *finding)
{
	size_t first;

	buf_reset(&state->r.text);
	finding_subject(block->findings[0], &state->r.text);
	first = state->r.text.len;
	finding_subject(finding, &state->r.text);
	if (state->r.text.len == 2 * first &&
	    !memcmp(state->r.text.data, state->r.text.data + first, first))
		return;
	add_tag(state, block->gutter, "in");
	escape_add(&state->r.buf, state->r.text.data + first,
		   state->r.text.len - first);
	buf_addc(&state->r.buf, '\n');
}

/* Writes the findings of a block. The message of a single finding is above the
 * excerpt; those of several findings are below it. */
static void add_block(struct full *state, struct full_block *block)
{
	const struct finding *first = block->findings[0];

	collect_marks(block);
	if (block->nfindings == 1)
		add_header(state, first);
	add_where(state, block->file, first, block->gutter);
	if (block->source && first->place.line)
		add_excerpt(state, block);
	for (size_t i = 0; i < block->nfindings; i++) {
		const struct finding *finding = block->findings[i];

		if (block->nfindings > 1) {
			add_header(state, finding);
			add_subject(state, block, finding);
		}
		add_advice(state, block, finding);
	}
	buf_addc(&state->r.buf, '\n');
	report_flush(state->r.out, &state->r.buf);
	block->nfindings = block->n = block->gutter = 0;
}

/* Counts the finding and decides whether it is shown. Errors are counted
 * separately, so that warnings of the same rule never hide them. */
static bool is_shown(struct full *state, const struct finding *finding)
{
	const struct rule *rule = finding->rule;
	size_t item = tally_add(&state->r.tally, rule, finding->severity);

	if (state->r.options.show_all)
		return true;
	if (finding->severity == SEVERITY_INFO &&
	    !finding_fails(finding, state->r.options.fail_on)) {
		tally_add(&state->infos, rule, SEVERITY_INFO);
		return false;
	}
	if (state->r.tally.items[item].count <= SHOWN_OF_RULE)
		return true;
	tally_add(&state->more, rule, SEVERITY_INFO);
	return false;
}

static bool same_place(const struct place *a, const struct place *b)
{
	return a->line == b->line && a->start == b->start && a->end == b->end;
}

static void full_file(void *context, const struct report_file *file,
		      const struct finding *findings, size_t n)
{
	struct full *state = context;
	struct full_block block = {.file = file};
	size_t size = 0;

	for (size_t i = 0; i < n; i++) {
		const struct finding *finding = &findings[i];

		if (finding->suppressed || !is_shown(state, finding))
			continue;
		if (!block.asked)
			block.source = file_shown(file);
		block.asked = true;
		if (block.nfindings &&
		    !same_place(&block.findings[0]->place, &finding->place))
			add_block(state, &block);
		*ARRAY_PUSH(block.findings, block.nfindings, size) = finding;
	}
	if (block.nfindings)
		add_block(state, &block);
	free(block.findings);
}

/* Adds a line for each rule whose findings were not all shown. */
static void add_more(struct full *state)
{
	tally_sort(&state->more);
	for (size_t i = 0; i < state->more.n; i++)
		buf_addf(&state->r.buf, "%s: %" PRIu64 " more (--show-all)\n",
			 state->more.items[i].rule->name,
			 state->more.items[i].count);
	if (state->more.n)
		buf_addc(&state->r.buf, '\n');
}

static void add_infos(struct full *state)
{
	const struct tally *infos = &state->infos;
	struct buf *buf = &state->r.buf;
	size_t line = buf->len;

	if (!infos->n)
		return;
	tally_sort(&state->infos);
	buf_adds(buf, "Infos, shown with --show-all:");
	for (size_t i = 0; i < infos->n; i++) {
		const char *name = infos->items[i].rule->name;

		if (buf->len - line + strlen(name) > LINE - COUNT) {
			buf_addc(buf, '\n');
			line = buf->len;
			buf_addc(buf, ' ');
		}
		buf_addf(buf, " %s %" PRIu64 "%s", name, infos->items[i].count,
			 i + 1 < infos->n ? "," : "");
	}
	buf_addc(buf, '\n');
}

static void full_end(void *context, const struct report_summary *summary)
{
	struct full *state = context;

	add_more(state);
	if (state->r.options.statistics) {
		statistics_add(&state->r.tally, &state->r.buf);
		if (state->r.tally.n && !state->r.options.quiet)
			buf_addc(&state->r.buf, '\n');
	}
	if (!state->r.options.quiet) {
		summary_add_line(summary, &state->r.buf);
		add_infos(state);
		summary_add_fixable(summary, &state->r.buf);
		summary_add_not_run(summary, &state->r.buf);
	}
	tally_release(&state->more);
	tally_release(&state->infos);
}

const struct report_format report_full = {
	.name = "full",
	.help = "excerpts with the places underlined, for people",
	.size = sizeof(struct full),
	.whole = true,
	.file = full_file,
	.end = full_end,
};
