/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reviewdog's format rdjson. Lines and columns count from 1, and ends are
 * exclusive. Columns are bytes of UTF-8, not code points as in the other
 * formats.
 */
#include <string.h>

#include "base/json_stream.h"
#include "doc/source.h"
#include "lint/report/parts/report_common.h"

static const char *const severities[] = {
	[SEVERITY_ERROR] = "ERROR",
	[SEVERITY_WARNING] = "WARNING",
	[SEVERITY_INFO] = "INFO",
};

/* Writes a position. Without the text of the file, only the line is known. */
static void put_position(struct buf *out, const char *key,
			 struct source *source, uint32_t line, uint32_t offset)
{
	const char *s = NULL;
	size_t len;

	stream_open(out, key, '{');
	stream_int(out, "line", line);
	if (source)
		s = source_line(source, line, &len);
	if (s && s >= source->text && s <= source->text + source->len &&
	    offset >= (size_t)(s - source->text))
		stream_int(out, "column",
			   (int64_t)(offset - (s - source->text) + 1));
	stream_close(out, '}');
}

static void put_location(struct buf *out, const char *path,
			 struct source *source, const struct place *place)
{
	stream_open(out, "location", '{');
	stream_text(out, "path", path_relative(path));
	stream_open(out, "range", '{');
	put_position(out, "start", source, place->line, place->start);
	put_position(out, "end", source, place->end_line, place->end);
	buf_adds(out, "}}");
}

static void put_related(struct buf *out, const struct report_file *file,
			struct source *source, const struct finding *finding)
{
	if (!finding->nrelated)
		return;
	stream_open(out, "related_locations", '[');
	for (unsigned i = 0; i < finding->nrelated; i++) {
		const struct related *related = &finding->related[i];
		const struct place *place = &related->place;
		bool here = place->file == file->index;

		stream_open(out, NULL, '{');
		stream_text(out, "message", related->message);
		put_location(out, place_path(file, place), here ? source : NULL,
			     place);
		stream_close(out, '}');
	}
	stream_close(out, ']');
}

static void put_suggestion(struct buf *out, struct source *source,
			   const struct fix_result *repair)
{
	uint32_t start, end;
	struct buf text;

	if (!repair || !source || repair->masked)
		return;
	buf_init(&text);
	/* The bytes between two edits may contain a secret even if the edits do
	 * not. */
	if (fix_cover(source, repair, &start, &end, &text) &&
	    !memchr(text.data, (unsigned char)SECRET_MASK_BYTE, text.len)) {
		struct position from = fix_position(source, start);
		struct position to = fix_position(source, end);

		stream_open(out, "suggestions", '[');
		stream_open(out, NULL, '{');
		stream_open(out, "range", '{');
		put_position(out, "start", source, from.line,
			     start - source->bom);
		put_position(out, "end", source, to.line, end - source->bom);
		stream_close(out, '}');
		stream_text(out, "text", text.data);
		buf_adds(out, "}]");
	}
	buf_release(&text);
}

static void add_diagnostic(struct report *report,
			   const struct report_file *file,
			   struct source *source, const struct finding *finding)
{
	struct buf *out = &report->buf;

	buf_adds(out, report->n++ ? ",\n" : "\n");
	stream_open(out, NULL, '{');
	stream_text(out, "message", finding->message);
	put_location(out, file->path, source, &finding->place);
	stream_text(out, "severity", severities[finding->severity]);
	stream_open(out, "code", '{');
	stream_text(out, "value", finding->rule->name);
	stream_close(out, '}');
	put_related(out, file, source, finding);
	put_suggestion(out, source, finding->repair);
	stream_close(out, '}');
	report_flush(report->out, out);
}

static void rdjson_file(void *context, const struct report_file *file,
			const struct finding *findings, size_t n)
{
	struct report *report = context;
	struct source *source = n ? file_shown(file) : NULL;

	for (size_t i = 0; i < n; i++) {
		if (!findings[i].suppressed && !finding_repeats(findings, i))
			add_diagnostic(report, file, source, &findings[i]);
	}
}

const struct report_format report_rdjson = {
	.name = "rdjson",
	.help = "reviewdog's JSON, for review comments",
	.size = sizeof(struct report),
	.head = "{\"source\":{\"name\":\"gpugate\"},\n\"diagnostics\":[",
	.tail = "]}\n",
	.file = rdjson_file,
};
