/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JUnit XML for GitLab and Jenkins. A suite is a file, and a case is a finding:
 * it fails if the finding fails the run, is skipped if the finding is
 * suppressed, and otherwise passes with the finding as its output. A file
 * without findings is one case that passes. GitLab keeps only the first case of
 * a class and name, so names are made unique; it shows the element's text,
 * Jenkins the message attribute, so both are written.
 */
#include <string.h>

#include "base/text.h"
#include "lint/report/parts/report_common.h"
#include "lint/term/escape.h"

static void add_suite(struct report *report, const struct report_file *file,
		      const struct finding *findings, size_t n)
{
	size_t skipped = 0, failures = 0;

	for (size_t i = 0; i < n; i++) {
		skipped += findings[i].suppressed != SUPPRESSED_NOT;
		failures +=
			finding_fails(&findings[i], report->options.fail_on);
	}
	buf_adds(&report->buf, "<testsuite");
	xml_add_attribute(&report->buf, "name", file->path);
	/* A file without findings has one case. */
	buf_addf(&report->buf,
		 " tests=\"%zu\" failures=\"%zu\" errors=\"0\""
		 " skipped=\"%zu\" time=\"0\">\n",
		 n + (n == skipped), failures, skipped);
	if (n == skipped) {
		buf_adds(&report->buf, "<testcase");
		xml_add_attribute(&report->buf, "classname", file->path);
		xml_add_attribute(&report->buf, "name", "no findings");
		xml_add_attribute(&report->buf, "file", file->path);
		buf_adds(&report->buf, " time=\"0\"/>\n");
	}
}

/* Makes a unique name "rule Kind ns/name /spec/..", with #2 and so on if it is
 * repeated. */
static void make_name(struct report *report, const struct finding *finding)
{
	struct buf *name = &report->text;
	uint32_t count;

	buf_reset(name);
	buf_adds(name, finding->rule->name);
	if (*finding->id.kind || *finding->id.name) {
		buf_addc(name, ' ');
		finding_object(finding, name);
	}
	if (*finding->place.pointer) {
		buf_addc(name, ' ');
		buf_adds(name, finding->place.pointer);
	}
	count = counter_next(&report->seen,
			     text_hash(name->data, name->len, 0));
	if (count > 1)
		buf_addf(name, " #%u", count);
}

static void add_result(struct report *report, const struct report_file *file,
		       const struct finding *finding)
{
	struct buf *buf = &report->buf;
	const char *remedy = finding_remedy(finding);
	bool fails = finding_fails(finding, report->options.fail_on);

	buf_adds(buf, fails ? "<failure" : "<system-out");
	if (fails) {
		xml_add_attribute(buf, "message", finding->message);
		xml_add_attribute(buf, "type",
				  severity_name(finding->severity));
	}
	buf_addc(buf, '>');
	xml_add(buf, file->path);
	buf_addf(buf, ":%u:%u: %s: ", finding->place.line,
		 finding->place.column, severity_name(finding->severity));
	xml_add(buf, finding->message);
	buf_addf(buf, " [%s]", finding->rule->name);
	if (*remedy) {
		buf_adds(buf, "\nhelp: ");
		xml_add(buf, remedy);
	}
	buf_adds(buf, fails ? "</failure>" : "</system-out>");
}

static void add_skipped(struct buf *buf, const struct finding *finding)
{
	buf_addf(buf, "<skipped message=\"suppressed by %s",
		 suppressed_via_name(finding->suppressed));
	if (*finding->suppression_reason)
		buf_adds(buf, ": ");
	xml_add(buf, finding->suppression_reason);
	buf_adds(buf, "\"/>");
}

static void add_case(struct report *report, const struct report_file *file,
		     const struct finding *finding)
{
	struct buf *buf = &report->buf;

	make_name(report, finding);
	buf_adds(buf, "<testcase");
	xml_add_attribute(buf, "classname", file->path);
	xml_add_attribute(buf, "name", report->text.data);
	xml_add_attribute(buf, "file", file->path);
	buf_addf(buf, " line=\"%u\" time=\"0\">", finding->place.line);
	if (finding->suppressed)
		add_skipped(buf, finding);
	else
		add_result(report, file, finding);
	buf_adds(buf, "</testcase>\n");
}

static void junit_file(void *context, const struct report_file *file,
		       const struct finding *findings, size_t n)
{
	struct report *report = context;

	counter_reset(&report->seen);
	add_suite(report, file, findings, n);
	for (size_t i = 0; i < n; i++) {
		add_case(report, file, &findings[i]);
		report_flush(report->out, &report->buf);
	}
	buf_adds(&report->buf, "</testsuite>\n");
	report_flush(report->out, &report->buf);
}

const struct report_format report_junit = {
	.name = "junit",
	.help = "JUnit XML, for GitLab and Jenkins",
	.size = sizeof(struct report),
	.head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<testsuites name=\"gpugate\">\n",
	.tail = "</testsuites>\n",
	.file = junit_file,
};
