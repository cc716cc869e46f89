/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes reports as objects of openreports.io/v1alpha1, for users who view all
 * reports of a cluster in one place: a Report for each namespace, a
 * ClusterReport for objects without a namespace. Fields:
 * openreports/reports-api, apis/openreports.io/v1alpha1/report_types.go.
 * Findings that fail the run become "fail", others "warn", suppressed ones
 * "skip". An API server limits the size of an object, so a report beyond
 * BYTES_MAX continues in the next object.
 */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/json_stream.h"
#include "base/text.h"
#include "lint/report/parts/report_common.h"
#include "lint/term/escape.h"
#include "lint/term/program.h"

enum { BYTES_MAX = 900000 };

struct openreport {
	const char *namespace;
	unsigned part; /* number of the part, from 1 */
	struct spool results;
	size_t bytes;
	uint64_t fail, warn, skip;
};

struct openreports {
	struct report r;
	struct arena names;
	struct openreport *items;
	size_t n, size;
};

/* Returns the namespace in the finding if it is a valid name, because a
 * manifest may contain any text there. */
static const char *namespace_of(const struct finding *finding)
{
	const char *namespace = finding->id.namespace;

	return text_is_label(namespace, strlen(namespace)) ? namespace : "";
}

/* Returns the last part of the namespace's report, or a new one if it is
 * full. */
static struct openreport *report_of(struct openreports *state,
				    const char *namespace)
{
	struct openreport *report;
	unsigned part = 1;

	for (size_t i = state->n; i-- > 0;) {
		report = &state->items[i];
		if (strcmp(report->namespace, namespace) != 0)
			continue;
		if (report->bytes < BYTES_MAX)
			return report;
		part = report->part + 1;
		break;
	}
	report = ARRAY_PUSH(state->items, state->n, state->size);
	*report = (struct openreport){.part = part};
	report->namespace = arena_strdup(&state->names, namespace);
	return report;
}

static const char *result_of(struct openreports *state,
			     struct openreport *report,
			     const struct finding *finding)
{
	if (finding->suppressed) {
		report->skip++;
		return "skip";
	}
	if (finding_fails(finding, state->r.options.fail_on)) {
		report->fail++;
		return "fail";
	}
	report->warn++;
	return "warn";
}

/* Adds text of a manifest, unless it is empty. Characters that YAML cannot
 * contain are replaced, because kubectl rejects them even if JSON escapes
 * them. */
static void put_text(struct buf *out, const char *key, const char *value)
{
	struct buf shown;

	if (!*value)
		return;
	buf_init(&shown);
	escape_adds(&shown, value);
	stream_text(out, key, shown.data);
	buf_release(&shown);
}

static void put_resources(struct buf *out, const struct object_id *id)
{
	if (!*id->kind)
		return;
	stream_open(out, "resources", '[');
	stream_open(out, NULL, '{');
	put_text(out, "apiVersion", id->api_version);
	put_text(out, "kind", id->kind);
	put_text(out, "namespace", id->namespace);
	put_text(out, "name", id->name);
	stream_close(out, '}');
	stream_close(out, ']');
}

/* Adds properties, whose values must be texts. */
static void put_properties(struct openreports *state,
			   const struct report_file *file,
			   const struct finding *finding)
{
	struct buf *out = &state->r.buf, *text = &state->r.text;

	stream_open(out, "properties", '{');
	put_text(out, "file", file->path);
	buf_reset(text);
	buf_addf(text, "%u:%u", finding->place.line, finding->place.column);
	put_text(out, "position", text->data);
	put_text(out, "path", finding->place.pointer);
	put_text(out, "pod", finding->pod);
	put_text(out, "container", finding->container);
	put_text(out, "help", finding_remedy(finding));
	if (finding->repair)
		put_text(out, "fix", finding->repair->title);
	buf_reset(text);
	if (docs_add_page(text, finding->rule))
		put_text(out, "docs", text->data);
	stream_hex(out, "fingerprint", finding->fingerprint);
	if (finding->suppressed) {
		put_text(out, "suppressedBy",
			 suppressed_via_name(finding->suppressed));
		put_text(out, "reason", finding->suppression_reason);
	}
	stream_close(out, '}');
}

static void add_result(struct openreports *state,
		       const struct report_file *file,
		       const struct finding *finding)
{
	static const char *const severities[] = {
		[SEVERITY_INFO] = "info",
		[SEVERITY_WARNING] = "medium",
		[SEVERITY_ERROR] = "high",
	};
	struct openreport *report = report_of(state, namespace_of(finding));
	struct buf *out = &state->r.buf;
	const char *result = result_of(state, report, finding);

	if (report->bytes)
		buf_adds(out, ",\n");
	stream_open(out, NULL, '{');
	put_text(out, "policy",
		 *finding->policy ? finding->policy : finding->rule->name);
	stream_text(out, "rule", finding->rule->name);
	stream_text(out, "category", finding->rule->category);
	stream_text(out, "severity", severities[finding->severity]);
	stream_text(out, "result", result);
	stream_bool(out, "scored", !strcmp(result, "fail"));
	put_text(out, "message", finding->message);
	put_resources(out, &finding->id);
	put_properties(state, file, finding);
	stream_close(out, '}');
	report->bytes += out->len;
	spool_add(&report->results, out);
}

static void openreports_file(void *context, const struct report_file *file,
			     const struct finding *findings, size_t n)
{
	for (size_t i = 0; i < n; i++)
		add_result(context, file, &findings[i]);
}

static void put_metadata(struct buf *out, const struct openreport *report)
{
	char name[40] = "gpugate";

	if (report->part > 1)
		snprintf(name, sizeof(name), "gpugate-%u", report->part);
	stream_open(out, "metadata", '{');
	stream_text(out, "name", name);
	if (*report->namespace)
		stream_text(out, "namespace", report->namespace);
	stream_open(out, "labels", '{');
	stream_text(out, "app.kubernetes.io/managed-by", "gpugate");
	stream_close(out, '}');
	stream_close(out, '}');
}

static void put_head(struct buf *out, const struct openreport *report)
{
	stream_open(out, NULL, '{');
	stream_text(out, "apiVersion", "openreports.io/v1alpha1");
	stream_text(out, "kind",
		    *report->namespace ? "Report" : "ClusterReport");
	put_metadata(out, report);
	stream_text(out, "source", "gpugate");
	if (*report->namespace) {
		stream_open(out, "scope", '{');
		stream_text(out, "apiVersion", "v1");
		stream_text(out, "kind", "Namespace");
		stream_text(out, "name", report->namespace);
		stream_close(out, '}');
	}
	stream_open(out, "summary", '{');
	stream_int(out, "pass", 0);
	stream_int(out, "fail", (int64_t)report->fail);
	stream_int(out, "warn", (int64_t)report->warn);
	stream_int(out, "error", 0);
	stream_int(out, "skip", (int64_t)report->skip);
	stream_close(out, '}');
	stream_open(out, "results", '[');
}

static int compare(const void *left, const void *right)
{
	const struct openreport *a = left, *b = right;
	int order = strcmp(a->namespace, b->namespace);

	return order ? order : (a->part > b->part) - (a->part < b->part);
}

static void openreports_end(void *context, const struct report_summary *summary)
{
	struct openreports *state = context;
	struct buf *out = &state->r.buf;

	if (state->n)
		qsort(state->items, state->n, sizeof(*state->items), compare);
	for (size_t i = 0; i < state->n; i++) {
		buf_adds(out, i ? ",\n" : "\n");
		put_head(out, &state->items[i]);
		buf_addc(out, '\n');
		report_flush(state->r.out, out);
		spool_finish(&state->items[i].results, state->r.out);
		buf_adds(out, "]}");
	}
	free(state->items);
	arena_release(&state->names);
}

const struct report_format report_openreports = {
	.name = "openreports",
	.help = "Report objects of openreports.io, one per namespace",
	.size = sizeof(struct openreports),
	.whole = true,
	.head = "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[",
	.tail = "]}\n",
	.file = openreports_file,
	.end = openreports_end,
};
