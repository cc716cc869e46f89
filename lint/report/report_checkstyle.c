/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checkstyle's XML, which Jenkins' warnings plug-in and reviewdog read:
 * files with their findings, in one attribute each.
 */
#include "lint/report/parts/report_common.h"
#include "lint/text/xml_out.h"

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
	struct report *report = context;
	bool open = false;

	for (size_t i = 0; i < n; i++) {
		if (findings[i].suppressed || finding_repeats(findings, i))
			continue;
		if (!open) {
			buf_adds(&report->buf, "<file");
			xml_add_attribute(&report->buf, "name", file->path);
			buf_adds(&report->buf, ">\n");
		}
		open = true;
		add_error(&report->buf, &findings[i]);
		report_flush(report->out, &report->buf);
	}
	if (open)
		fputs("</file>\n", report->out);
}

const struct report_format report_checkstyle = {
	.name = "checkstyle",
	.help = "Checkstyle XML, for Jenkins and reviewdog",
	.size = sizeof(struct report),
	.head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<checkstyle version=\"4.3\">\n",
	.tail = "</checkstyle>\n",
	.file = checkstyle_file,
};
