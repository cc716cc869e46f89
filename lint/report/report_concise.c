/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One line a finding, `path:line:column: severity: message [rule]`, as
 * editors and problem matchers read it; and nothing else, unless statistics
 * are asked for.
 */
#include <stdlib.h>

#include "base/array.h"
#include "lint/report/parts/report_statistics.h"
#include "lint/term/escape.h"

struct concise {
	FILE *out;
	struct report_options options;
	struct buf buf;
	struct tally tally;
};

static void *concise_begin(FILE *out, const struct report_options *options)
{
	struct concise *state = array_zalloc(1, sizeof(*state));

	state->out = out;
	state->options = *options;
	buf_init(&state->buf);
	return state;
}

static void concise_line(struct concise *state, const struct report_file *file,
			 const struct finding *finding)
{
	bool color = state->options.color;
	struct buf *buf = &state->buf;

	paint_begin(buf, color, COLOR_BOLD);
	/* A runner of GitHub's obeys lines that begin with :: or ##[. */
	if (*file->path == ':' || *file->path == '#')
		buf_adds(buf, "./");
	escape_adds(buf, file->path);
	paint_end(buf, color);
	buf_addf(buf, ":%u:%u: ", finding->place.line, finding->place.column);
	paint_begin(buf, color, severity_color(finding->severity));
	buf_adds(buf, severity_name(finding->severity));
	paint_end(buf, color);
	buf_adds(buf, ": ");
	escape_adds(buf, finding->message);
	buf_addf(buf, " [%s]\n", finding->rule->name);
}

static void concise_file(void *context, const struct report_file *file,
			 const struct finding *findings, size_t n)
{
	struct concise *state = context;

	for (size_t i = 0; i < n; i++) {
		if (findings[i].suppressed)
			continue;
		tally_add(&state->tally, findings[i].rule,
			  findings[i].severity);
		concise_line(state, file, &findings[i]);
		report_flush(state->out, &state->buf);
	}
}

static void concise_end(void *context, const struct report_summary *summary)
{
	struct concise *state = context;

	if (state->options.statistics)
		statistics_add(&state->tally, &state->buf);
	report_flush(state->out, &state->buf);
	buf_release(&state->buf);
	tally_release(&state->tally);
	free(state);
}

const struct report_format report_concise = {
	.name = "concise",
	.help = "one line a finding, for editors and scripts",
	.begin = concise_begin,
	.file = concise_file,
	.end = concise_end,
};
