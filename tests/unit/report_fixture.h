/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Findings made by hand for the report formats: a text, places in it found
 * by searching, and the output of a format as a string.
 */
#ifndef TESTS_REPORT_FIXTURE_H
#define TESTS_REPORT_FIXTURE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doc/source.h"
#include "lint/report/report.h"

/* The manifest in which most tests place their findings. */
static const char manifest[] = "kind: Job\n"
			       "metadata: {name: llm}\n"
			       "spec:\n"
			       "  名: {gpu: 4}\n";

struct fixture {
	struct arena arena;
	struct source source;
	struct report_options options;
};

static const struct rule fixture_rule = {
	.name = "gpu-limit-missing",
	.category = "resources",
	.severity = SEVERITY_ERROR,
	.summary = "a GPU request without a limit",
	.why = "extended resources need an equal limit",
	.remedy = "set the same limit",
	.evidence = "the API server's validation",
};

static const struct rule fixture_rule_shm = {
	.name = "shm-missing",
	.category = "shm",
	.severity = SEVERITY_WARNING,
	.summary = "no shared memory for a training job",
	.why = "64 MiB are too small",
	.remedy = "",
};

static inline struct source *fixture_source(void *context, uint32_t file)
{
	struct fixture *fixture = context;

	return file == 0 ? &fixture->source : NULL;
}

static inline const char *fixture_path(void *context, uint32_t file)
{
	return file == 0 ? "jobs/train.yaml" : "cluster/quota.yaml";
}

static inline void fixture_text(struct fixture *fixture, const char *text)
{
	memset(fixture, 0, sizeof(*fixture));
	source_init(&fixture->source, &fixture->arena, "jobs/train.yaml", text,
		    strlen(text));
	fixture->options.version = "1.0.0";
}

static inline void fixture_release(struct fixture *fixture)
{
	arena_release(&fixture->arena);
}

static inline struct report_file fixture_file(struct fixture *fixture)
{
	return (struct report_file){.index = 0,
				    .path = "jobs/train.yaml",
				    .source = fixture_source,
				    .path_of = fixture_path,
				    .context = fixture};
}

/* Returns the place of the n-th (from 0) occurrence of word in the text. */
static inline struct place fixture_place(struct fixture *fixture,
					 const char *word, int n)
{
	const char *text = fixture->source.text, *at = strstr(text, word);
	struct position start, end;
	struct place place = {.pointer = "/spec", .document = 1};

	while (at && n--)
		at = strstr(at + 1, word);
	if (!at)
		abort();
	place.start = (uint32_t)(at - text);
	place.end = place.start + (uint32_t)strlen(word);
	start = source_position(&fixture->source, place.start);
	end = source_position(&fixture->source, place.end);
	place.line = start.line;
	place.column = start.column;
	place.end_line = end.line;
	place.end_column = end.column;
	return place;
}

static inline struct finding fixture_finding(struct fixture *fixture,
					     const char *word, int n)
{
	return (struct finding){
		.rule = &fixture_rule,
		.severity = SEVERITY_ERROR,
		.place = fixture_place(fixture, word, n),
		.id = {"batch/v1", "Job", "ml", "llm"},
		.pod = "Worker",
		.container = "trainer",
		.message = "container `trainer` has no limit",
		.help = "",
		.cause = "",
		.policy = "",
		.binding = "",
		.wants = "",
		.fingerprint = 0x1234abcd,
		.suppression_reason = "",
	};
}

/* Returns everything that the format writes for these findings; free() it. Not
 * inline, because gcc would assume that the stream's output in `text` is a
 * pointer to `text`. */
__attribute__((noinline, unused)) static char *
fixture_report(struct fixture *fixture, const struct report_format *format,
	       const struct finding *findings, size_t n,
	       const struct report_summary *summary)
{
	struct report_file file = fixture_file(fixture);
	struct report_summary none = {0};
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	void *state;

	if (!out)
		abort();
	state = report_begin(format, out, &fixture->options);
	format->file(state, &file, findings, n);
	report_end(format, state, summary ? summary : &none);
	fclose(out);
	return text;
}

/* Returns the report of all findings in the format with this name. */
static inline char *report_n(const char *name, const struct finding *findings,
			     size_t n, struct fixture *fixture)
{
	return fixture_report(fixture, report_format_find(name), findings, n,
			      NULL);
}

static inline void expect_in(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("\"%s\" is not in:\n%s", part, text);
}

static inline size_t occurrences(const char *text, const char *part)
{
	size_t n = 0;

	for (; (text = strstr(text, part)) != NULL; text++)
		n++;
	return n;
}

#endif
