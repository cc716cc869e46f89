/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checkstyle's XML, which Jenkins' warnings plug-in and reviewdog read:
 * files with their findings, in one attribute each.
 */
#include <stdlib.h>

#include "base/array.h"
#include "lint/report/parts/report_common.h"
#include "lint/text/xml_out.h"

struct checkstyle {
	FILE *out;
	struct buf buf;
};

static void *checkstyle_begin(FILE *out, const struct report_options *options)
{
	struct checkstyle *state = array_zalloc(1, sizeof(*state));

	state->out = out;
	buf_init(&state->buf);
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	      "<checkstyle version=\"4.3\">\n",
	      out);
	return state;
}

static void add_error(struct buf *buf, const struct finding *finding)
{
	buf_addf(buf, "<error line=\"%u\" column=\"%u\"", finding->place.line,
		 finding->place.column);
	xml_add_attribute(buf, "severity", severity_name(finding->severity));
	xml_add_attribute(buf, "message", finding->message);
	buf_addf(buf, " source=\"gpugate.%s.%s\"/>\n", finding->rule->category,
		 finding->rule->name);
}

static void checkstyle_file(void *context, const struct report_file *file,
			    const struct finding *findings, size_t n)
{
	struct checkstyle *state = context;
	bool open = false;

	for (size_t i = 0; i < n; i++) {
		if (findings[i].suppressed)
			continue;
		if (!open) {
			buf_adds(&state->buf, "<file");
			xml_add_attribute(&state->buf, "name", file->path);
			buf_adds(&state->buf, ">\n");
		}
		open = true;
		add_error(&state->buf, &findings[i]);
		report_flush(state->out, &state->buf);
	}
	if (open)
		fputs("</file>\n", state->out);
}

static void checkstyle_end(void *context, const struct report_summary *summary)
{
	struct checkstyle *state = context;

	fputs("</checkstyle>\n", state->out);
	buf_release(&state->buf);
	free(state);
}

const struct report_format report_checkstyle = {
	.name = "checkstyle",
	.help = "Checkstyle XML, for Jenkins and reviewdog",
	.begin = checkstyle_begin,
	.file = checkstyle_file,
	.end = checkstyle_end,
};
