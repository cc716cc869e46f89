/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workflow commands that GitHub Actions turns into annotations. A step shows
 * ten of each type and silently drops the rest; so the first ten of each
 * severity are stored until the end, errors are written first, and a notice
 * contains the number of the others. Because manifests of a pull request may be
 * hostile, their text never starts a line and cannot end a command.
 */
#include <inttypes.h>
#include <string.h>

#include "lint/report/parts/report_common.h"
#include "lint/term/escape.h"

enum { SHOWN = 10, MESSAGE_MAX = 4000, SEVERITIES = SEVERITY_ERROR + 1 };

struct github {
	struct report r;
	struct held_back {
		struct buf buf;
		size_t before_last; /* length without the tenth annotation */
		uint64_t n;
	} kept[SEVERITIES];
};

static void add_escaped(struct buf *out, const char *s, const char *special)
{
	while (*s) {
		size_t plain = strcspn(s, special);

		escape_add(out, s, plain);
		s += plain;
		if (*s)
			buf_addf(out, "%%%02X", (unsigned char)*s++);
	}
}

/* Adds a file name, which GitHub must decode to the same bytes, including line
 * breaks. */
static void add_property(struct buf *out, const char *name, const char *s)
{
	buf_addf(out, "%s=", name);
	add_escaped(out, s, "%:,\r\n");
}

/* Adds text as one line, because a line break would start a new command. */
static void add_data(struct buf *out, const char *s)
{
	add_escaped(out, s, "%");
}

static const char *const commands[] = {
	[SEVERITY_ERROR] = "error",
	[SEVERITY_WARNING] = "warning",
	[SEVERITY_INFO] = "notice",
};

/* Cuts a long message between two characters; GitHub would cut it at any
 * byte. */
static void cut_line(struct buf *buf, size_t start)
{
	size_t len = start + MESSAGE_MAX;

	if (buf->len <= len)
		return;
	while (len > start && ((unsigned char)buf->data[len] >> 6) == 2)
		len--;
	buf->len = len;
	buf->data[len] = '\0';
}

static void add_command(struct buf *buf, const struct report_file *file,
			const struct finding *finding)
{
	const struct place *place = &finding->place;
	const char *remedy = finding_remedy(finding);
	size_t start;

	buf_addf(buf, "::%s ", commands[finding->severity]);
	add_property(buf, "file", path_relative(file->path));
	buf_addf(buf, ",line=%u", place->line);
	/* Columns are allowed only in annotations of one line. */
	if (place->end_line == place->line)
		buf_addf(buf, ",endLine=%u,col=%u,endColumn=%u",
			 place->end_line, place->column, place->end_column);
	buf_addf(buf, ",title=gpugate %s::", finding->rule->name);
	start = buf->len;
	add_data(buf, finding->message);
	if (*remedy) {
		buf_adds(buf, "%0Ahelp: ");
		add_data(buf, remedy);
	}
	cut_line(buf, start);
	buf_addc(buf, '\n');
}

static void github_file(void *context, const struct report_file *file,
			const struct finding *findings, size_t n)
{
	struct github *state = context;

	for (size_t i = 0; i < n; i++) {
		struct held_back *kept = &state->kept[findings[i].severity];

		if (findings[i].suppressed || finding_repeats(findings, i) ||
		    kept->n++ >= SHOWN)
			continue;
		if (kept->n == SHOWN)
			kept->before_last = kept->buf.len;
		add_command(&kept->buf, file, &findings[i]);
	}
}

/* Returns the number of findings without an annotation. The notice about them
 * counts as an info, so if there are ten infos, the tenth is dropped. */
static uint64_t leave_out(struct github *state)
{
	struct held_back *infos = &state->kept[SEVERITY_INFO];
	uint64_t left = 0;

	for (size_t i = 0; i < SEVERITIES; i++) {
		if (state->kept[i].n > SHOWN)
			left += state->kept[i].n - SHOWN;
	}
	if (left && infos->n >= SHOWN) {
		infos->buf.len = infos->before_last;
		infos->buf.data[infos->buf.len] = '\0';
		left++;
	}
	return left;
}

static void github_end(void *context, const struct report_summary *summary)
{
	struct github *state = context;
	uint64_t left = leave_out(state);
	struct buf *buf = &state->r.buf;

	for (size_t i = SEVERITIES; i-- > 0;) {
		report_flush(state->r.out, &state->kept[i].buf);
		buf_release(&state->kept[i].buf);
	}
	if (left)
		buf_addf(buf,
			 "::notice title=gpugate::%" PRIu64
			 " more %s without an annotation: GitHub shows ten of"
			 " each severity; see --format full or markdown\n",
			 left, left == 1 ? "finding" : "findings");
	if (state->r.options.quiet)
		return;
	summary_add_line(summary, buf);
	summary_add_not_run(summary, buf);
}

const struct report_format report_github = {
	.name = "github",
	.help = "annotations of GitHub Actions",
	.size = sizeof(struct github),
	.file = github_file,
	.end = github_end,
};
