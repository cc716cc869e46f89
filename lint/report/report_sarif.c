/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SARIF 2.1.0 as GitHub code scanning and editors read it. Results come first
 * and their rules last, in the order of first use, so that results can be
 * written as they occur; JSON has no order of keys. Columns are code points,
 * ends exclusive. GitHub shows a result only if all lines of its region are in
 * the diff, so regions have only one line. GitHub ignores `suppressions` and
 * would open an alert for each finding that a comment or a baseline suppresses,
 * so such findings are omitted for it.
 */
#include <inttypes.h>

#include "base/json_stream.h"
#include "base/text.h"
#include "lint/report/parts/report_common.h"
#include "lint/term/program.h"
#include "lint/text/line_hash.h"

/* State for the current file. */
struct sarif_file {
	const struct report_file *file;
	struct source *source;
	struct line_hasher hasher; /* used if there is a source */
};

/* Returns the end column of the first line, for a place that has several
 * lines. */
static uint32_t line_end_column(struct source *source, uint32_t line)
{
	size_t len;
	const char *s = source_line(source, line, &len);

	return (uint32_t)utf8_count(s, len) + 1;
}

static void put_region(struct buf *out, const struct place *place,
		       struct source *source)
{
	uint32_t line = place->line ? place->line : 1;
	uint32_t column = place->column ? place->column : 1;
	uint32_t end = place->end_column;

	stream_open(out, "region", '{');
	stream_int(out, "startLine", line);
	stream_int(out, "startColumn", column);
	if (place->end_line != line)
		end = source ? line_end_column(source, line) : 0;
	/* An empty region is allowed; it is a position between two
	 * characters. */
	if (end >= column) {
		stream_int(out, "endLine", line);
		stream_int(out, "endColumn", end);
	}
	stream_close(out, '}');
}

static void put_physical(struct buf *out, const char *path,
			 const struct place *place, struct source *source)
{
	stream_open(out, "physicalLocation", '{');
	sarif_put_artifact(out, path);
	put_region(out, place, source);
	stream_close(out, '}');
}

static void put_logical(struct buf *out, const struct finding *finding,
			struct buf *scratch)
{
	buf_reset(scratch);
	finding_object(finding, scratch);
	if (!scratch->len)
		return;
	stream_open(out, "logicalLocations", '[');
	stream_open(out, NULL, '{');
	stream_text(out, "name",
		    *finding->id.name ? finding->id.name : finding->id.kind);
	buf_adds(scratch, finding->place.pointer);
	stream_text(out, "fullyQualifiedName", scratch->data);
	stream_text(out, "kind", "object");
	buf_adds(out, "}]");
}

static void put_related(struct buf *out, const struct sarif_file *at,
			const struct finding *finding)
{
	bool any = false;

	for (unsigned i = 0; i < finding->nrelated; i++) {
		const struct related *related = &finding->related[i];
		const char *path = place_path(at->file, &related->place);
		bool here = related->place.file == at->file->index;

		if (!*path)
			continue;
		if (!any)
			stream_open(out, "relatedLocations", '[');
		any = true;
		stream_open(out, NULL, '{');
		stream_int(out, "id", i + 1);
		put_physical(out, path, &related->place,
			     here ? at->source : NULL);
		sarif_put_text(out, "message",
			       *related->message ? related->message : "here");
		stream_close(out, '}');
	}
	if (any)
		stream_close(out, ']');
}

static uint32_t first_line(const struct finding *finding)
{
	return finding->place.line ? finding->place.line : 1;
}

static void put_fingerprints(struct buf *out, struct sarif_file *at,
			     const struct finding *finding)
{
	const struct line_hash *hash = NULL;
	char text[40];

	stream_open(out, "partialFingerprints", '{');
	if (at->source)
		hash = line_hash_at(&at->hasher, first_line(finding));
	if (hash) {
		snprintf(text, sizeof(text), "%" PRIx64 ":%" PRIu32, hash->hash,
			 hash->count);
		stream_text(out, "primaryLocationLineHash", text);
	}
	stream_hex(out, "gpugate/v1", finding->fingerprint);
	stream_close(out, '}');
}

static void put_suppressions(struct buf *out, const struct finding *finding)
{
	bool in_source = finding->suppressed == SUPPRESSED_COMMENT ||
			 finding->suppressed == SUPPRESSED_ANNOTATION;

	if (!finding->suppressed)
		return;
	stream_open(out, "suppressions", '[');
	stream_open(out, NULL, '{');
	stream_text(out, "kind", in_source ? "inSource" : "external");
	if (*finding->suppression_reason)
		stream_text(out, "justification", finding->suppression_reason);
	buf_adds(out, "}]");
}

static void add_result(struct report *report, struct sarif_file *at,
		       const struct finding *finding)
{
	/* The tally is used to number rules, whatever the severity. */
	size_t index = tally_add(&report->tally, finding->rule, SEVERITY_INFO);
	struct buf *out = &report->buf, text;

	buf_adds(out, report->n++ ? ",\n" : "\n");
	stream_open(out, NULL, '{');
	stream_text(out, "ruleId", finding->rule->name);
	stream_int(out, "ruleIndex", (int64_t)index);
	stream_text(out, "level", sarif_level(finding->severity));
	if (finding->more)
		stream_int(out, "occurrenceCount", (int64_t)finding->more + 1);
	buf_init(&text);
	sarif_add_message(&text, at->file, finding);
	sarif_put_text(out, "message", text.data);
	stream_open(out, "locations", '[');
	stream_open(out, NULL, '{');
	put_physical(out, at->file->path, &finding->place, at->source);
	put_logical(out, finding, &text);
	buf_adds(out, "}]");
	buf_release(&text);
	put_related(out, at, finding);
	put_fingerprints(out, at, finding);
	put_suppressions(out, finding);
	fix_put_sarif(out, at->file->path, at->source, finding->repair);
	stream_close(out, '}');
	report_flush(report->out, out);
}

static bool is_result(const struct report *report,
		      const struct finding *finding)
{
	return !finding->suppressed || !report->options.github;
}

static void sarif_file(void *context, const struct report_file *file,
		       const struct finding *findings, size_t n)
{
	struct report *report = context;
	struct sarif_file at = {.file = file};
	bool read = false;

	for (size_t i = 0; i < n; i++) {
		if (!is_result(report, &findings[i]))
			continue;
		if (!read && (at.source = file_source(file)))
			line_hasher_init(&at.hasher, at.source);
		read = true;
		if (at.source)
			line_hash_want(&at.hasher, first_line(&findings[i]));
	}
	for (size_t i = 0; i < n; i++)
		if (is_result(report, &findings[i]))
			add_result(report, &at, &findings[i]);
	line_hasher_release(&at.hasher);
}

static void add_rules(struct report *report)
{
	const char *version = report->options.version;
	struct buf *out = &report->buf, home;

	buf_adds(out, "],\n\"tool\":{\"driver\":{\"name\":\"gpugate\"");
	stream_text(out, "semanticVersion", sarif_version(version));
	stream_text(out, "version", version ? version : "unknown");
	buf_init(&home);
	if (docs_add_index(&home))
		stream_text(out, "informationUri", home.data);
	buf_release(&home);
	stream_open(out, "rules", '[');
	for (size_t i = 0; i < report->tally.n; i++) {
		buf_adds(out, i ? ",\n" : "\n");
		sarif_put_rule(out, report->tally.items[i].rule);
	}
	buf_adds(out, "]}}");
}

static void sarif_end(void *context, const struct report_summary *summary)
{
	struct report *report = context;

	add_rules(report);
	buf_adds(&report->buf, ",\n\"automationDetails\":{\"id\":\"gpugate/\"}"
			       ",\n\"invocations\":[");
	sarif_put_invocation(&report->buf, summary);
}

const struct report_format report_sarif = {
	.name = "sarif",
	.help = "SARIF 2.1.0, for code scanning and editors",
	.size = sizeof(struct report),
	.head = "{\"$schema\":\"https://json.schemastore.org/sarif-2.1.0.json\","
		"\"version\":\"2.1.0\",\n\"runs\":[{"
		"\"columnKind\":\"unicodeCodePoints\",\n\"results\":[",
	.tail = "]}]}\n",
	.file = sarif_file,
	.end = sarif_end,
};
