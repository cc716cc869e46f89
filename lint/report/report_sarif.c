/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SARIF 2.1.0 as GitHub code scanning and editors read it. Results come
 * first and the rules that they name last, in the order of first use, so
 * that results can be written as they come; JSON has no order of keys.
 * Columns are code points, ends exclusive. GitHub shows a result only when
 * all lines of its region are in the diff: regions are kept on one line.
 * It reads no `suppressions` either and would open an alert for each finding
 * that a comment or a baseline settled: there these are left out.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/text.h"
#include "lint/text/json_out.h"
#include "lint/text/line_hash.h"
#include "report_fix.h"
#include "sarif.h"

struct sarif {
	FILE *out;
	const char *version;
	struct buf buf;
	struct tally rules; /* of any severity */
	uint64_t n;
	bool without_suppressed;
};

/* What is known of the current file. */
struct sarif_file {
	const struct report_file *file;
	struct source *source;
	struct line_hashes hashes;
};

static void *sarif_begin(FILE *out, const struct report_options *options)
{
	struct sarif *state = array_zalloc(1, sizeof(*state));

	state->out = out;
	state->version = options->version;
	state->without_suppressed = options->github;
	buf_init(&state->buf);
	fputs("{\"$schema\":\"https://json.schemastore.org/sarif-2.1.0.json\","
	      "\"version\":\"2.1.0\",\n\"runs\":[{"
	      "\"columnKind\":\"unicodeCodePoints\",\n\"results\":[",
	      out);
	return state;
}

/* End of the first line of a place that spans several. */
static uint32_t line_end_column(struct source *source, uint32_t line)
{
	size_t len;
	const char *s = source_line(source, line, &len);

	return (uint32_t)utf8_count(s, len) + 1;
}

static void put_region(json_t *physical, const struct place *place,
		       struct source *source)
{
	json_t *region = json_put_object(physical, "region");
	uint32_t line = place->line ? place->line : 1;
	uint32_t column = place->column ? place->column : 1;
	uint32_t end = place->end_column;

	json_put_int(region, "startLine", line);
	json_put_int(region, "startColumn", column);
	if (place->end_line != line)
		end = source ? line_end_column(source, line) : 0;
	/* An empty place is a caret between two characters: allowed. */
	if (end < column)
		return;
	json_put_int(region, "endLine", line);
	json_put_int(region, "endColumn", end);
}

static void put_physical(json_t *location, const char *path,
			 const struct place *place, struct source *source)
{
	json_t *physical = json_put_object(location, "physicalLocation");
	struct buf uri;

	buf_init(&uri);
	sarif_add_uri(&uri, path_relative(path));
	json_put_text(json_put_object(physical, "artifactLocation"), "uri",
		      uri.data);
	buf_release(&uri);
	put_region(physical, place, source);
}

static void put_logical(json_t *location, const struct finding *finding,
			struct buf *scratch)
{
	json_t *item;

	buf_reset(scratch);
	finding_object(finding, scratch);
	if (!scratch->len)
		return;
	item = json_add_object(json_put_array(location, "logicalLocations"));
	json_put_text(item, "name",
		      *finding->id.name ? finding->id.name : finding->id.kind);
	buf_adds(scratch, finding->place.pointer);
	json_put_text(item, "fullyQualifiedName", scratch->data);
	json_put_text(item, "kind", "object");
}

static void put_related(json_t *result, const struct sarif_file *at,
			const struct finding *finding)
{
	json_t *list = NULL;

	for (unsigned i = 0; i < finding->nrelated; i++) {
		const struct related *related = &finding->related[i];
		const char *path = place_path(at->file, &related->place);
		bool here = related->place.file == at->file->index;
		json_t *item;

		if (!*path)
			continue;
		if (!list)
			list = json_put_array(result, "relatedLocations");
		item = json_add_object(list);
		json_put_int(item, "id", i + 1);
		put_physical(item, path, &related->place,
			     here ? at->source : NULL);
		json_put_text(json_put_object(item, "message"), "text",
			      *related->message ? related->message : "here");
	}
}

static void put_fingerprints(json_t *result, const struct sarif_file *at,
			     const struct finding *finding)
{
	json_t *prints = json_put_object(result, "partialFingerprints");
	uint32_t line = finding->place.line ? finding->place.line : 1;
	char text[40];

	if (line <= at->hashes.n) {
		const struct line_hash *hash = &at->hashes.items[line - 1];

		snprintf(text, sizeof(text), "%" PRIx64 ":%" PRIu32, hash->hash,
			 hash->count);
		json_put_text(prints, "primaryLocationLineHash", text);
	}
	snprintf(text, sizeof(text), "%016" PRIx64, finding->fingerprint);
	json_put_text(prints, "gpugate/v1", text);
}

static void put_suppressions(json_t *result, const struct finding *finding)
{
	bool in_source = finding->suppressed == SUPPRESSED_COMMENT ||
			 finding->suppressed == SUPPRESSED_ANNOTATION;
	json_t *item;

	if (!finding->suppressed)
		return;
	item = json_add_object(json_put_array(result, "suppressions"));
	json_put_text(item, "kind", in_source ? "inSource" : "external");
	if (*finding->suppression_reason)
		json_put_text(item, "justification",
			      finding->suppression_reason);
}

static void add_result(struct sarif *state, const struct sarif_file *at,
		       const struct finding *finding)
{
	json_t *result = json_new_object(), *location;
	size_t index = tally_add(&state->rules, finding->rule, SEVERITY_INFO);
	struct buf text;

	json_put_text(result, "ruleId", finding->rule->name);
	json_put_int(result, "ruleIndex", (int64_t)index);
	json_put_text(result, "level", sarif_level(finding->severity));
	buf_init(&text);
	sarif_add_message(&text, at->file, finding);
	json_put_text(json_put_object(result, "message"), "text", text.data);
	location = json_add_object(json_put_array(result, "locations"));
	put_physical(location, at->file->path, &finding->place, at->source);
	put_logical(location, finding, &text);
	buf_release(&text);
	put_related(result, at, finding);
	put_fingerprints(result, at, finding);
	put_suppressions(result, finding);
	fix_put_sarif(result, at->file->path, at->source, finding->repair);
	buf_adds(&state->buf, state->n++ ? ",\n" : "\n");
	json_write(result, &state->buf);
	report_flush(state->out, &state->buf);
}

static void sarif_file(void *context, const struct report_file *file,
		       const struct finding *findings, size_t n)
{
	struct sarif *state = context;
	struct sarif_file at = {.file = file};
	bool read = false;

	for (size_t i = 0; i < n; i++) {
		if (findings[i].suppressed && state->without_suppressed)
			continue;
		if (!read)
			at.source = file_source(file);
		if (!read && at.source)
			line_hashes_make(&at.hashes, at.source);
		read = true;
		add_result(state, &at, &findings[i]);
	}
	line_hashes_release(&at.hashes);
}

static void add_rules(struct sarif *state)
{
	buf_adds(&state->buf, "],\n\"tool\":{\"driver\":{\"name\":\"gpugate\","
			      "\"semanticVersion\":");
	json_write(json_new_text(sarif_version(state->version)), &state->buf);
	buf_adds(&state->buf, ",\"version\":");
	json_write(json_new_text(state->version ? state->version : "unknown"),
		   &state->buf);
	buf_adds(&state->buf, ",\"rules\":[");
	for (size_t i = 0; i < state->rules.n; i++) {
		buf_adds(&state->buf, i ? ",\n" : "\n");
		json_write(sarif_rule(state->rules.items[i].rule), &state->buf);
	}
	buf_adds(&state->buf, "]}}");
}

static void sarif_end(void *context, const struct report_summary *summary)
{
	struct sarif *state = context;

	add_rules(state);
	buf_adds(&state->buf, ",\n\"automationDetails\":{\"id\":\"gpugate/\"}"
			      ",\n\"invocations\":[");
	json_write(sarif_invocation(summary), &state->buf);
	buf_adds(&state->buf, "]}]}\n");
	report_flush(state->out, &state->buf);
	tally_release(&state->rules);
	buf_release(&state->buf);
	free(state);
}

const struct report_format report_sarif = {
	.name = "sarif",
	.help = "SARIF 2.1.0, for code scanning and editors",
	.begin = sarif_begin,
	.file = sarif_file,
	.end = sarif_end,
};
