/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reviewdog's rdjson. Lines and columns count from 1, columns are bytes of
 * UTF-8 (not code points, as everywhere else), ends are exclusive.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "doc/source.h"
#include "lint/text/json_out.h"
#include "report_common.h"
#include "report_fix.h"

struct rdjson {
	FILE *out;
	struct buf buf;
	uint64_t n;
};

static void *rdjson_begin(FILE *out, const struct report_options *options)
{
	struct rdjson *state = array_zalloc(1, sizeof(*state));

	state->out = out;
	buf_init(&state->buf);
	fputs("{\"source\":{\"name\":\"gpugate\"},\n\"diagnostics\":[", out);
	return state;
}

static const char *rdjson_severity(enum severity severity)
{
	static const char *const words[] = {
		[SEVERITY_ERROR] = "ERROR",
		[SEVERITY_WARNING] = "WARNING",
		[SEVERITY_INFO] = "INFO",
	};

	return words[severity];
}

/* Without the file's text only the line is known. */
static void put_position(json_t *range, const char *key, struct source *source,
			 uint32_t line, uint32_t offset)
{
	json_t *position = json_put_object(range, key);
	const char *s;
	size_t len;

	json_put_int(position, "line", line);
	if (!source)
		return;
	s = source_line(source, line, &len);
	if (s >= source->text && s <= source->text + source->len &&
	    offset >= (size_t)(s - source->text))
		json_put_int(position, "column",
			     (int64_t)(offset - (s - source->text) + 1));
}

static void put_location(json_t *json, const char *path, struct source *source,
			 const struct place *place)
{
	json_t *location = json_put_object(json, "location"), *range;

	json_put_text(location, "path", path_relative(path));
	range = json_put_object(location, "range");
	put_position(range, "start", source, place->line, place->start);
	put_position(range, "end", source, place->end_line, place->end);
}

static void put_related(json_t *json, const struct report_file *file,
			struct source *source, const struct finding *finding)
{
	json_t *list;

	if (!finding->nrelated)
		return;
	list = json_put_array(json, "related_locations");
	for (unsigned i = 0; i < finding->nrelated; i++) {
		const struct related *related = &finding->related[i];
		const struct place *place = &related->place;
		bool here = place->file == file->index;
		json_t *item = json_add_object(list);

		json_put_text(item, "message", related->message);
		put_location(item, place_path(file, place),
			     here ? source : NULL, place);
	}
}

static void put_suggestion(json_t *json, struct source *source,
			   const struct fix_result *repair)
{
	uint32_t start, end;
	struct buf text;
	json_t *item, *range;

	if (!repair || !source || repair->covered)
		return;
	buf_init(&text);
	/* Bytes between two edits may hold a secret that they do not. */
	if (fix_cover(source, repair, &start, &end, &text) &&
	    !memchr(text.data, (unsigned char)SECRET_COVER, text.len)) {
		struct position from = fix_position(source, start);
		struct position to = fix_position(source, end);

		item = json_add_object(json_put_array(json, "suggestions"));
		range = json_put_object(item, "range");
		put_position(range, "start", source, from.line,
			     start - source->bom);
		put_position(range, "end", source, to.line, end - source->bom);
		json_put_text(item, "text", text.data);
	}
	buf_release(&text);
}

static void add_diagnostic(struct rdjson *state, const struct report_file *file,
			   struct source *source, const struct finding *finding)
{
	json_t *json = json_new_object(), *code;

	json_put_text(json, "message", finding->message);
	put_location(json, file->path, source, &finding->place);
	json_put_text(json, "severity", rdjson_severity(finding->severity));
	code = json_put_object(json, "code");
	json_put_text(code, "value", finding->rule->name);
	put_related(json, file, source, finding);
	put_suggestion(json, source, finding->repair);
	buf_adds(&state->buf, state->n++ ? ",\n" : "\n");
	json_write(json, &state->buf);
	report_flush(state->out, &state->buf);
}

static void rdjson_file(void *context, const struct report_file *file,
			const struct finding *findings, size_t n)
{
	struct rdjson *state = context;
	struct source *source = n ? file_shown(file) : NULL;

	for (size_t i = 0; i < n; i++) {
		if (!findings[i].suppressed)
			add_diagnostic(state, file, source, &findings[i]);
	}
}

static void rdjson_end(void *context, const struct report_summary *summary)
{
	struct rdjson *state = context;

	fputs("]}\n", state->out);
	buf_release(&state->buf);
	free(state);
}

const struct report_format report_rdjson = {
	.name = "rdjson",
	.help = "reviewdog's JSON, for comments in reviews",
	.begin = rdjson_begin,
	.file = rdjson_file,
	.end = rdjson_end,
};
