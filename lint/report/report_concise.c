/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes one line per finding for editors and problem matchers:
 * `path:line:column: severity: message [rule]`. Statistics follow only if they
 * are requested.
 */
#include "lint/report/parts/report_common.h"
#include "lint/term/escape.h"

static void concise_line(struct report *report, const struct report_file *file,
			 const struct finding *finding)
{
	bool color = report->options.color;
	struct buf *buf = &report->buf;

	paint_begin(buf, color, COLOR_BOLD);
	/* A GitHub runner executes lines that begin with :: or ##[. */
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
	struct report *report = context;

	for (size_t i = 0; i < n; i++) {
		if (findings[i].suppressed)
			continue;
		tally_finding(&report->tally, &findings[i]);
		if (finding_repeats(findings, i))
			continue;
		concise_line(report, file, &findings[i]);
		report_flush(report->out, &report->buf);
	}
}

static void concise_end(void *context, const struct report_summary *summary)
{
	struct report *report = context;

	if (report->options.statistics)
		statistics_add(&report->tally, &report->buf);
}

const struct report_format report_concise = {
	.name = "concise",
	.help = "one line per finding, for editors and scripts",
	.size = sizeof(struct report),
	.file = concise_file,
	.end = concise_end,
};
