/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GitLab Code Quality: an array of issues. GitLab folds issues of the same
 * fingerprint into one, so an occurrence goes into it; the line does not, or
 * every edit above a finding would make it new. check_name is not shown,
 * hence the rule in the description.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "lint/text/counter.h"
#include "lint/text/json_out.h"
#include "report_common.h"

struct gitlab {
	FILE *out;
	struct buf buf, text;
	struct counter seen; /* fingerprints of the current file */
	uint64_t n;
};

static void *gitlab_begin(FILE *out, const struct report_options *options)
{
	struct gitlab *state = array_zalloc(1, sizeof(*state));

	state->out = out;
	buf_init(&state->buf);
	buf_init(&state->text);
	fputs("[", out);
	return state;
}

static const char *gitlab_severity(enum severity severity)
{
	static const char *const words[] = {
		[SEVERITY_ERROR] = "major",
		[SEVERITY_WARNING] = "minor",
		[SEVERITY_INFO] = "info",
	};

	return words[severity];
}

static void put_fingerprint(struct gitlab *state, json_t *json,
			    const struct report_file *file,
			    const struct finding *finding)
{
	uint32_t count = counter_next(&state->seen, finding->fingerprint);
	uint64_t hash = text_hash(file->path, strlen(file->path), 0);
	char text[17];

	hash = text_hash(&finding->fingerprint, sizeof(finding->fingerprint),
			 hash);
	hash = text_hash(&count, sizeof(count), hash);
	snprintf(text, sizeof(text), "%016" PRIx64, hash);
	json_put_text(json, "fingerprint", text);
}

static void add_issue(struct gitlab *state, const struct report_file *file,
		      const struct finding *finding)
{
	json_t *json = json_new_object(), *location, *lines;

	buf_reset(&state->text);
	buf_addf(&state->text, "%s: %s", finding->rule->name, finding->message);
	json_put_text(json, "description", state->text.data);
	json_put_text(json, "check_name", finding->rule->name);
	put_fingerprint(state, json, file, finding);
	json_put_text(json, "severity", gitlab_severity(finding->severity));
	location = json_put_object(json, "location");
	json_put_text(location, "path", path_relative(file->path));
	lines = json_put_object(location, "lines");
	json_put_int(lines, "begin", finding->place.line);
	buf_adds(&state->buf, state->n++ ? ",\n" : "\n");
	json_write(json, &state->buf);
	report_flush(state->out, &state->buf);
}

static void gitlab_file(void *context, const struct report_file *file,
			const struct finding *findings, size_t n)
{
	struct gitlab *state = context;

	counter_reset(&state->seen);
	for (size_t i = 0; i < n; i++) {
		if (!findings[i].suppressed)
			add_issue(state, file, &findings[i]);
	}
}

static void gitlab_end(void *context, const struct report_summary *summary)
{
	struct gitlab *state = context;

	fputs("]\n", state->out);
	counter_release(&state->seen);
	buf_release(&state->buf);
	buf_release(&state->text);
	free(state);
}

const struct report_format report_gitlab = {
	.name = "gitlab",
	.help = "GitLab Code Quality JSON",
	.begin = gitlab_begin,
	.file = gitlab_file,
	.end = gitlab_end,
};
