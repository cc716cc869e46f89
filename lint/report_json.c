/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Formats json and jsonl. One finding is one line in both. The shapes are
 * public: keys may be added, never renamed or dropped. `json` keeps the
 * suppressed findings back until all others are written, as its order of
 * keys wants it; `jsonl` has no order and writes them where they come.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "json_out.h"
#include "report_common.h"
#include "report_fix.h"

struct json {
	FILE *out;
	struct buf buf;
	struct spool suppressed;
	uint64_t findings, nsuppressed;
};

static void *json_begin_lines(FILE *out, const struct report_options *options)
{
	struct json *state = report_alloc(sizeof(*state));

	state->out = out;
	buf_init(&state->buf);
	spool_init(&state->suppressed);
	return state;
}

static void *json_begin(FILE *out, const struct report_options *options)
{
	fputs("{\"version\":1,\n\"findings\":[", out);
	return json_begin_lines(out, options);
}

static void put_object_id(json_t *json, const struct object_id *id)
{
	json_t *object = json_put_object(json, "object");

	json_put_text(object, "apiVersion", id->api_version);
	json_put_text(object, "kind", id->kind);
	if (*id->namespace)
		json_put_text(object, "namespace", id->namespace);
	json_put_text(object, "name", id->name);
}

static void put_related(json_t *json, const struct report_file *file,
			const struct finding *finding)
{
	json_t *list = json_put_array(json, "related");

	for (unsigned i = 0; i < finding->nrelated; i++) {
		const struct related *related = &finding->related[i];
		json_t *item = json_add_object(list);

		json_put_text(item, "file", place_path(file, &related->place));
		json_put_int(item, "line", related->place.line);
		json_put_int(item, "column", related->place.column);
		json_put_text(item, "message", related->message);
	}
}

static void put_place(json_t *json, const struct report_file *file,
		      const struct place *place)
{
	json_put_text(json, "file", file->path);
	json_put_int(json, "line", place->line);
	json_put_int(json, "column", place->column);
	json_put_int(json, "endLine", place->end_line);
	json_put_int(json, "endColumn", place->end_column);
	json_put_int(json, "document", place->document);
}

static json_t *finding_json(const struct report_file *file,
			    const struct finding *finding)
{
	json_t *json = json_new_object();
	char fingerprint[17];

	snprintf(fingerprint, sizeof(fingerprint), "%016" PRIx64,
		 finding->fingerprint);
	json_put_text(json, "rule", finding->rule->name);
	json_put_text(json, "fingerprint", fingerprint);
	json_put_text(json, "category", finding->rule->category);
	json_put_text(json, "severity", severity_name(finding->severity));
	json_put_text(json, "message", finding->message);
	json_put_text(json, "help", finding_remedy(finding));
	put_place(json, file, &finding->place);
	put_object_id(json, &finding->id);
	json_put_text(json, "pod", finding->pod);
	json_put_text(json, "container", finding->container);
	json_put_text(json, "path", finding->place.pointer);
	put_related(json, file, finding);
	if (finding->repair)
		fix_put_json(json, finding->repair);
	return json;
}

static json_t *suppressed_json(const struct report_file *file,
			       const struct finding *finding)
{
	json_t *json = json_new_object();

	json_put_text(json, "rule", finding->rule->name);
	json_put_text(json, "file", file->path);
	json_put_int(json, "line", finding->place.line);
	json_put_text(json, "via", suppressed_via_name(finding->suppressed));
	json_put_text(json, "reason", finding->suppression_reason);
	return json;
}

/* Items of an array stand on a line each. */
static void next_item(struct buf *out, uint64_t *n)
{
	buf_adds(out, (*n)++ ? ",\n" : "\n");
}

static void json_file(void *context, const struct report_file *file,
		      const struct finding *findings, size_t n)
{
	struct json *state = context;
	struct buf *buf = &state->buf;

	for (size_t i = 0; i < n; i++) {
		if (findings[i].suppressed) {
			next_item(buf, &state->nsuppressed);
			json_write(suppressed_json(file, &findings[i]), buf);
			spool_add(&state->suppressed, buf);
		} else {
			next_item(buf, &state->findings);
			json_write(finding_json(file, &findings[i]), buf);
			report_flush(state->out, buf);
		}
	}
}

static void jsonl_file(void *context, const struct report_file *file,
		       const struct finding *findings, size_t n)
{
	struct json *state = context;
	struct buf *buf = &state->buf;

	for (size_t i = 0; i < n; i++) {
		if (findings[i].suppressed) {
			json_t *line = json_new_object();

			json_put(line, "suppressed",
				 suppressed_json(file, &findings[i]));
			json_write(line, buf);
		} else {
			json_write(finding_json(file, &findings[i]), buf);
		}
		buf_addc(buf, '\n');
		report_flush(state->out, buf);
	}
}

static void put_skipped(json_t *json, const struct report_summary *summary)
{
	json_t *list = json_put_array(json, "skipped");

	for (size_t i = 0; i < summary->nskipped; i++) {
		json_t *item = json_add_object(list);

		json_put_text(item, "file", summary->skipped[i].path);
		json_put_text(item, "reason", summary->skipped[i].reason);
	}
}

static void put_not_run(json_t *json, const struct report_summary *summary)
{
	json_t *list = json_put_array(json, "rulesNotRun");

	for (size_t i = 0; i < summary->nnot_run; i++) {
		const struct not_run *not_run = &summary->not_run[i];
		json_t *item = json_add_object(list);

		json_put_text(item, "rule", not_run->rule->name);
		json_put_text(item, "reason", not_run->reason);
		json_put_int(item, "count", (int64_t)not_run->count);
	}
}

static json_t *summary_json(const struct report_summary *summary)
{
	const struct run_counts *counts = &summary->counts;
	json_t *json = json_new_object();

	json_put_int(json, "files", (int64_t)summary->files);
	put_skipped(json, summary);
	json_put_int(json, "ignored", (int64_t)summary->ignored);
	json_put_int(json, "documents", (int64_t)counts->documents);
	json_put_int(json, "objects", (int64_t)counts->objects);
	json_put_int(json, "workloads", (int64_t)counts->workloads);
	json_put_int(json, "gpus", counts->gpus);
	json_put_bool(json, "gpusUnknown", counts->gpus_unknown);
	json_put_int(json, "unknownKindsWithPods",
		     (int64_t)counts->unknown_kinds_with_pods);
	json_put_int(json, "placeholders", (int64_t)counts->placeholders);
	json_put_int(json, "fragments", (int64_t)counts->fragments);
	json_put_int(json, "errors", (int64_t)counts->errors);
	json_put_int(json, "warnings", (int64_t)counts->warnings);
	json_put_int(json, "infos", (int64_t)counts->infos);
	json_put_int(json, "suppressed", (int64_t)counts->suppressed);
	json_put_int(json, "fixable", (int64_t)summary->fixable);
	json_put_int(json, "fixableUnsafe", (int64_t)summary->fixable_unsafe);
	json_put_bool(json, "incomplete", summary->failed);
	put_not_run(json, summary);
	return json;
}

static void json_release(struct json *state)
{
	buf_release(&state->buf);
	free(state);
}

static void json_end(void *context, const struct report_summary *summary)
{
	struct json *state = context;

	fputs("],\n\"suppressed\":[", state->out);
	spool_finish(&state->suppressed, state->out);
	buf_adds(&state->buf, "],\n\"summary\":");
	json_write(summary_json(summary), &state->buf);
	buf_adds(&state->buf, "}\n");
	report_flush(state->out, &state->buf);
	json_release(state);
}

static void jsonl_end(void *context, const struct report_summary *summary)
{
	struct json *state = context;
	json_t *line = json_new_object();

	json_put_int(line, "version", 1);
	json_put(line, "summary", summary_json(summary));
	json_write(line, &state->buf);
	buf_addc(&state->buf, '\n');
	report_flush(state->out, &state->buf);
	json_release(state);
}

const struct report_format report_json = {
	.name = "json",
	.help = "one JSON object, a finding a line",
	.begin = json_begin,
	.file = json_file,
	.end = json_end,
};

const struct report_format report_jsonl = {
	.name = "jsonl",
	.help = "a JSON object a line: findings, then the summary",
	.begin = json_begin_lines,
	.file = jsonl_file,
	.end = jsonl_end,
};
