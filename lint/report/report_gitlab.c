/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GitLab Code Quality: an array of issues. Because GitLab merges issues with
 * the same fingerprint, the fingerprint includes the number of the occurrence.
 * It does not include the line, because then every edit above a finding would
 * make it new. GitLab does not show check_name, so the description contains the
 * rule.
 */
#include <string.h>

#include "base/json_stream.h"
#include "base/text.h"
#include "lint/report/parts/report_common.h"

static const char *const severities[] = {
	[SEVERITY_ERROR] = "major",
	[SEVERITY_WARNING] = "minor",
	[SEVERITY_INFO] = "info",
};

static void put_fingerprint(struct report *report,
			    const struct report_file *file,
			    const struct finding *finding)
{
	uint32_t count = counter_next(&report->seen, finding->fingerprint);
	uint64_t hash = text_hash(file->path, strlen(file->path), 0);

	hash = text_hash(&finding->fingerprint, sizeof(finding->fingerprint),
			 hash);
	hash = text_hash(&count, sizeof(count), hash);
	stream_hex(&report->buf, "fingerprint", hash);
}

static void add_issue(struct report *report, const struct report_file *file,
		      const struct finding *finding)
{
	struct buf *out = &report->buf;

	buf_reset(&report->text);
	buf_addf(&report->text, "%s: %s", finding->rule->name,
		 finding->message);
	buf_adds(out, report->n++ ? ",\n" : "\n");
	stream_open(out, NULL, '{');
	stream_text(out, "description", report->text.data);
	stream_text(out, "check_name", finding->rule->name);
	put_fingerprint(report, file, finding);
	stream_text(out, "severity", severities[finding->severity]);
	stream_open(out, "location", '{');
	stream_text(out, "path", path_relative(file->path));
	stream_open(out, "lines", '{');
	stream_int(out, "begin", finding->place.line);
	buf_adds(out, "}}}");
	report_flush(report->out, out);
}

static void gitlab_file(void *context, const struct report_file *file,
			const struct finding *findings, size_t n)
{
	struct report *report = context;

	counter_reset(&report->seen);
	for (size_t i = 0; i < n; i++) {
		if (!findings[i].suppressed && !finding_repeats(findings, i))
			add_issue(report, file, &findings[i]);
	}
}

const struct report_format report_gitlab = {
	.name = "gitlab",
	.help = "GitLab Code Quality JSON",
	.size = sizeof(struct report),
	.head = "[",
	.tail = "]\n",
	.file = gitlab_file,
};
