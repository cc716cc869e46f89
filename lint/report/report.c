/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of report formats, sorted by name: a new format is a file and a
 * line here.
 */
#include "report.h"

#include <string.h>

const struct report_format *const report_formats[] = {
	&report_checkstyle, &report_concise,	 &report_full,
	&report_github,	    &report_gitlab,	 &report_html,
	&report_json,	    &report_jsonl,	 &report_junit,
	&report_markdown,   &report_openreports, &report_rdjson,
	&report_sarif,
};

const size_t report_formats_count =
	sizeof(report_formats) / sizeof(report_formats[0]);

const struct report_format *report_format_find(const char *name)
{
	for (size_t i = 0; i < report_formats_count; i++) {
		if (strcmp(report_formats[i]->name, name) == 0)
			return report_formats[i];
	}
	return NULL;
}
