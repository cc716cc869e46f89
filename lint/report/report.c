/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of report formats, sorted by name; a new format needs a file and a
 * line here. Also contains the steps with which every format begins and ends,
 * and masks secret values.
 */
#include "report.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "lint/report/parts/report_common.h"

const struct report_format *const report_formats[] = {
	&report_concise,  &report_full,	       &report_github, &report_gitlab,
	&report_html,	  &report_json,	       &report_jsonl,  &report_junit,
	&report_markdown, &report_openreports, &report_rdjson, &report_sarif,
};

const size_t report_formats_count = ARRAY_SIZE(report_formats);

const struct report_format *report_format_find(const char *name)
{
	for (size_t i = 0; i < report_formats_count; i++) {
		if (strcmp(report_formats[i]->name, name) == 0)
			return report_formats[i];
	}
	return NULL;
}

void *report_begin(const struct report_format *format, FILE *out,
		   const struct report_options *options)
{
	struct report *report = array_zalloc(1, format->size);

	report->out = out;
	report->options = *options;
	buf_init(&report->buf);
	buf_init(&report->text);
	if (format->head)
		fputs(format->head, out);
	if (format->begin)
		format->begin(report);
	return report;
}

void report_end(const struct report_format *format, void *state,
		const struct report_summary *summary)
{
	struct report *report = state;

	if (format->end)
		format->end(state, summary);
	if (!format->size)
		return;
	report_flush(report->out, &report->buf);
	if (format->tail)
		fputs(format->tail, report->out);
	buf_release(&report->buf);
	buf_release(&report->text);
	tally_release(&report->tally);
	counter_release(&report->seen);
	free(report);
}

/*
 * Masks the secret values of a file. Most files contain none and are neither
 * parsed nor copied. If a file is gone, only tokens that are recognized by
 * their form are masked.
 */

void masked_make(struct masked *masked, struct arena *arena,
		 const struct source *source)
{
	*masked = (struct masked){.secrets = {.arena = arena}};
	if (source && (secrets_possible(source->text, source->len) ||
		       secrets_plain(source->text, source->len)))
		masked->source = secrets_of_source(&masked->secrets, source);
	masked->any = !source || masked->source;
}

void masked_findings(const struct masked *masked, struct finding *findings,
		     size_t n)
{
	for (size_t i = 0; masked->any && i < n; i++)
		finding_mask(&findings[i], &masked->secrets,
			     masked->secrets.arena);
}
