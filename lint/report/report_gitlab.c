/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GitLab Code Quality: an array of issues. GitLab folds issues of the same
 * fingerprint into one, so an occurrence goes into it; the line does not, or
 * every edit above a finding would make it new. check_name is not shown,
 * hence the rule in the description.
 */
#include <string.h>

#include "base/text.h"
#include "lint/report/parts/report_common.h"
#include "lint/text/counter.h"
#include "lint/text/json_stream.h"

struct gitlab {
	struct report r;
	struct counter seen; /* fingerprints of the current file */
	uint64_t n;
};

static const char *gitlab_severity(enum severity severity)
{
	static const char *const words[] = {
		[SEVERITY_ERROR] = "major",
		[SEVERITY_WARNING] = "minor",
		[SEVERITY_INFO] = "info",
	};

	return words[severity];
}

static void put_fingerprint(struct gitlab *state,
			    const struct report_file *file,
			    const struct finding *finding)
{
	uint32_t count = counter_next(&state->seen, finding->fingerprint);
	uint64_t hash = text_hash(file->path, strlen(file->path), 0);

	hash = text_hash(&finding->fingerprint, sizeof(finding->fingerprint),
			 hash);
	hash = text_hash(&count, sizeof(count), hash);
	stream_hex(&state->r.buf, "fingerprint", hash);
}

static void add_issue(struct gitlab *state, const struct report_file *file,
		      const struct finding *finding)
{
	struct buf *out = &state->r.buf;

	buf_reset(&state->r.text);
	buf_addf(&state->r.text, "%s: %s", finding->rule->name,
		 finding->message);
	buf_adds(out, state->n++ ? ",\n" : "\n");
	stream_open(out, NULL, '{');
	stream_text(out, "description", state->r.text.data);
	stream_text(out, "check_name", finding->rule->name);
	put_fingerprint(state, file, finding);
	stream_text(out, "severity", gitlab_severity(finding->severity));
	stream_open(out, "location", '{');
	stream_text(out, "path", path_relative(file->path));
	stream_open(out, "lines", '{');
	stream_int(out, "begin", finding->place.line);
	buf_adds(out, "}}}");
	report_flush(state->r.out, out);
}

static void gitlab_file(void *context, const struct report_file *file,
			const struct finding *findings, size_t n)
{
	struct gitlab *state = context;

	counter_reset(&state->seen);
	for (size_t i = 0; i < n; i++) {
		if (!findings[i].suppressed && !finding_repeats(findings, i))
			add_issue(state, file, &findings[i]);
	}
}

static void gitlab_end(void *context, const struct report_summary *summary)
{
	struct gitlab *state = context;

	counter_release(&state->seen);
}

const struct report_format report_gitlab = {
	.name = "gitlab",
	.help = "GitLab Code Quality JSON",
	.size = sizeof(struct gitlab),
	.head = "[",
	.tail = "]\n",
	.file = gitlab_file,
	.end = gitlab_end,
};
