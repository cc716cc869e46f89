/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The formats json and jsonl. A finding is one line in both. Users depend on
 * the keys: they may be added, but never renamed or removed. `json` writes
 * suppressed findings after all others, as its order of keys requires; `jsonl`
 * has no such order and writes them as they occur.
 */
#include "base/json_stream.h"
#include "lint/report/parts/report_common.h"
#include "lint/term/program.h"

struct json_report {
	struct report r;
	struct spool suppressed;
	uint64_t nsuppressed;
};

static void put_object_id(struct buf *out, const struct object_id *id)
{
	stream_open(out, "object", '{');
	stream_text(out, "apiVersion", id->api_version);
	stream_text(out, "kind", id->kind);
	if (*id->namespace)
		stream_text(out, "namespace", id->namespace);
	stream_text(out, "name", id->name);
	stream_close(out, '}');
}

static void put_related(struct buf *out, const struct report_file *file,
			const struct finding *finding)
{
	stream_open(out, "related", '[');
	for (unsigned i = 0; i < finding->nrelated; i++) {
		const struct related *related = &finding->related[i];

		stream_open(out, NULL, '{');
		stream_text(out, "file", place_path(file, &related->place));
		stream_int(out, "line", related->place.line);
		stream_int(out, "column", related->place.column);
		stream_text(out, "message", related->message);
		stream_close(out, '}');
	}
	stream_close(out, ']');
}

static void put_place(struct buf *out, const struct report_file *file,
		      const struct place *place)
{
	stream_text(out, "file", file->path);
	stream_int(out, "line", place->line);
	stream_int(out, "column", place->column);
	stream_int(out, "endLine", place->end_line);
	stream_int(out, "endColumn", place->end_column);
	stream_int(out, "document", place->document);
}

static void put_docs(struct buf *out, const struct rule *rule)
{
	struct buf page;

	buf_init(&page);
	if (docs_add_page(&page, rule))
		stream_text(out, "docs", page.data);
	buf_release(&page);
}

static void put_finding(struct buf *out, const struct report_file *file,
			const struct finding *finding)
{
	stream_open(out, NULL, '{');
	stream_text(out, "rule", finding->rule->name);
	if (*text_or_empty(finding->check))
		stream_text(out, "check", finding->check);
	stream_hex(out, "fingerprint", finding->fingerprint);
	stream_text(out, "category", finding->rule->category);
	stream_text(out, "severity", severity_name(finding->severity));
	stream_text(out, "message", finding->message);
	stream_text(out, "help", finding_remedy(finding));
	if (finding->more)
		stream_int(out, "more", finding->more);
	put_docs(out, finding->rule);
	put_place(out, file, &finding->place);
	put_object_id(out, &finding->id);
	stream_text(out, "pod", finding->pod);
	stream_text(out, "container", finding->container);
	stream_text(out, "path", finding->place.pointer);
	if (*finding->policy) {
		stream_text(out, "policy", finding->policy);
		stream_text(out, "binding", finding->binding);
	}
	put_related(out, file, finding);
	if (finding->repair)
		fix_put_json(out, finding->repair);
	stream_close(out, '}');
}

/* key is NULL for an object that is not a member. */
static void put_suppressed(struct buf *out, const char *key,
			   const struct report_file *file,
			   const struct finding *finding)
{
	stream_open(out, key, '{');
	stream_text(out, "rule", finding->rule->name);
	stream_text(out, "file", file->path);
	stream_int(out, "line", finding->place.line);
	stream_text(out, "via", suppressed_via_name(finding->suppressed));
	stream_text(out, "reason", finding->suppression_reason);
	stream_close(out, '}');
}

/* Begins a new line for each item of an array. */
static void next_item(struct buf *out, uint64_t *n)
{
	buf_adds(out, (*n)++ ? ",\n" : "\n");
}

static void json_file(void *context, const struct report_file *file,
		      const struct finding *findings, size_t n)
{
	struct json_report *state = context;
	struct buf *buf = &state->r.buf;

	for (size_t i = 0; i < n; i++) {
		if (findings[i].suppressed) {
			next_item(buf, &state->nsuppressed);
			put_suppressed(buf, NULL, file, &findings[i]);
			spool_add(&state->suppressed, buf);
		} else {
			next_item(buf, &state->r.n);
			put_finding(buf, file, &findings[i]);
			report_flush(state->r.out, buf);
		}
	}
}

static void jsonl_file(void *context, const struct report_file *file,
		       const struct finding *findings, size_t n)
{
	struct json_report *state = context;
	struct buf *buf = &state->r.buf;

	for (size_t i = 0; i < n; i++) {
		if (findings[i].suppressed) {
			stream_open(buf, NULL, '{');
			put_suppressed(buf, "suppressed", file, &findings[i]);
			stream_close(buf, '}');
		} else {
			put_finding(buf, file, &findings[i]);
		}
		buf_addc(buf, '\n');
		report_flush(state->r.out, buf);
	}
}

static void put_skipped(struct buf *out, const struct report_summary *summary)
{
	stream_open(out, "skipped", '[');
	for (size_t i = 0; i < summary->nskipped; i++) {
		stream_open(out, NULL, '{');
		stream_text(out, "file", summary->skipped[i].path);
		stream_text(out, "reason", summary->skipped[i].reason);
		stream_close(out, '}');
	}
	stream_close(out, ']');
}

/* Writes the rendered roots, and the ones that were not rendered. */
static void put_rendered(struct buf *out, const struct report_summary *summary)
{
	stream_open(out, "rendered", '[');
	for (size_t i = 0; i < summary->nrendered; i++) {
		const struct report_rendered *r = &summary->rendered[i];

		stream_open(out, NULL, '{');
		stream_text(out, "source", r->source);
		stream_bool(out, "built", !r->reason);
		if (!r->reason) {
			stream_text(out, "tool", r->tool);
			stream_text(out, "version", r->version);
		} else {
			stream_text(out, "reason", r->reason);
			stream_text(out, "command", r->command);
		}
		stream_close(out, '}');
	}
	stream_close(out, ']');
}

static void put_not_run(struct buf *out, const struct report_summary *summary)
{
	stream_open(out, "rulesNotRun", '[');
	for (size_t i = 0; i < summary->nnot_run; i++) {
		const struct not_run *not_run = &summary->not_run[i];

		stream_open(out, NULL, '{');
		stream_text(out, "rule", not_run->rule->name);
		stream_text(out, "reason", not_run->reason);
		stream_int(out, "count", (int64_t)not_run->count);
		stream_close(out, '}');
	}
	stream_close(out, ']');
}

static void put_summary(struct buf *out, const struct report_summary *summary)
{
	const struct run_counts *counts = &summary->counts;

	stream_open(out, "summary", '{');
	stream_int(out, "files", (int64_t)summary->files);
	put_skipped(out, summary);
	put_rendered(out, summary);
	stream_int(out, "ignored", (int64_t)summary->ignored);
	stream_int(out, "notKubernetes", (int64_t)summary->foreign);
	stream_int(out, "documents", (int64_t)counts->documents);
	stream_int(out, "objects", (int64_t)counts->objects);
	stream_int(out, "workloads", (int64_t)counts->workloads);
	stream_int(out, "gpus", counts->gpus);
	stream_bool(out, "gpusUnknown", counts->gpus_unknown);
	stream_int(out, "unknownKindsWithPods",
		   (int64_t)counts->unknown_kinds_with_pods);
	stream_int(out, "placeholders", (int64_t)counts->placeholders);
	stream_int(out, "fragments", (int64_t)counts->fragments);
	stream_int(out, "patchedBases", (int64_t)counts->patched);
	stream_int(out, "chartValues", (int64_t)counts->chart_values);
	stream_int(out, "infrastructure", (int64_t)counts->infrastructure);
	stream_int(out, "infrastructureUnknown",
		   (int64_t)counts->infrastructure_unknown);
	stream_int(out, "errors", (int64_t)counts->errors);
	stream_int(out, "warnings", (int64_t)counts->warnings);
	stream_int(out, "infos", (int64_t)counts->infos);
	stream_int(out, "suppressed", (int64_t)counts->suppressed);
	stream_int(out, "fixable", (int64_t)summary->counts.fixable);
	stream_int(out, "fixableUnsafe",
		   (int64_t)summary->counts.fixable_unsafe);
	stream_bool(out, "incomplete", summary->failed);
	put_not_run(out, summary);
	stream_close(out, '}');
}

static void json_end(void *context, const struct report_summary *summary)
{
	struct json_report *state = context;

	fputs("],\n\"suppressed\":[", state->r.out);
	spool_finish(&state->suppressed, state->r.out);
	buf_adds(&state->r.buf, "],\n");
	put_summary(&state->r.buf, summary);
}

static void jsonl_end(void *context, const struct report_summary *summary)
{
	struct json_report *state = context;
	struct buf *buf = &state->r.buf;

	stream_open(buf, NULL, '{');
	stream_int(buf, "version", 1);
	put_summary(buf, summary);
	stream_close(buf, '}');
	buf_addc(buf, '\n');
}

const struct report_format report_json = {
	.name = "json",
	.help = "one JSON object, one finding per line",
	.size = sizeof(struct json_report),
	.head = "{\"version\":1,\n\"findings\":[",
	.tail = "}\n",
	.file = json_file,
	.end = json_end,
};

const struct report_format report_jsonl = {
	.name = "jsonl",
	.help = "one JSON object per line: findings, then the summary",
	.size = sizeof(struct json_report),
	.file = jsonl_file,
	.end = jsonl_end,
};
