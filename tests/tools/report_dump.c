/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_dump FORMAT FILES FINDINGS [hostile]: prints a report of made-up
 * findings. Every file gets that many findings; with `hostile` their texts
 * contain characters that could break formats and terminals. Used by format
 * validators, for timing, and to check that memory does not grow with the
 * number of findings.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doc/source.h"
#include "lint/report/report.h"

static const struct rule rules[] = {
	{.name = "gpu-limit-missing",
	 .category = "resources",
	 .severity = SEVERITY_ERROR,
	 .summary = "a GPU request without a limit",
	 .why = "extended resources need an equal limit",
	 .remedy = "set the same limit",
	 .evidence = "the API server's validation"},
	{.name = "priority-class-missing",
	 .category = "priority",
	 .severity = SEVERITY_INFO,
	 .summary = "no priority class",
	 .why = "the job cannot be preempted in order",
	 .remedy = "name a priority class"},
	{.name = "shm-missing",
	 .category = "shm",
	 .severity = SEVERITY_WARNING,
	 .summary = "no shared memory for a training job",
	 .why = "64 MiB are too small",
	 .remedy = "mount an emptyDir with medium Memory"},
};
static const struct rule *const items[] = {&rules[0], &rules[1], &rules[2]};
static const struct rule_set set = {.items = items, .n = 3};

static const char plain[] =
	"apiVersion: batch/v1\nkind: Job\nmetadata: {name: llm}\nspec:\n"
	"  containers:\n  - name: trainer\n    resources:\n"
	"      requests: {nvidia.com/gpu: 4}\n";
static const char hostile[] =
	"kind: \"\x1b[31m ]]> <script>\" # ::error::x\r\nname: \t\"\xe6\x97\xa5"
	"\xe6\x9c\xac\xf0\x9f\x98\x80\" # ` | \\ & ' %0A\r\nspec: {a: 'x'}";

static const char *const texts[] = {
	"\x1b[2J\x1b]0;x\x07 ]]> <script>alert(1)</script> & \" '",
	"x\n::error file=a,line=1::forged\r::stop-commands::t",
	"` | \\| ``` <!-- -- --> [a](javascript:x) \xc2\x9b[31m",
	"\xe2\x80\xae\xe2\x81\xa6 %25 %0A \x01\x02\x7f \xef\xbf\xbe \xff\xc0",
	"=cmd|'/c calc'!A0, # [x] @team \xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\x98\x80",
};

struct dump {
	struct source source;
	struct arena arena;
	bool hostile;
};

static struct source *get_source(void *context, uint32_t file)
{
	struct dump *dump = context;

	return &dump->source;
}

static const char *get_path(void *context, uint32_t file)
{
	return file ? "cluster/quota.yaml" : "jobs/other.yaml";
}

static struct place make_place(struct dump *dump, const char *word)
{
	const char *at = strstr(dump->source.text, word);
	struct place place = {.document = 1, .pointer = "/spec"};
	struct position start, end;

	place.start = at ? (uint32_t)(at - dump->source.text) : 0;
	place.end = place.start + (uint32_t)strlen(word);
	start = source_position(&dump->source, place.start);
	end = source_position(&dump->source, place.end);
	place.line = start.line;
	place.column = start.column;
	place.end_line = end.line;
	place.end_column = end.column;
	return place;
}

static struct finding make_finding(struct dump *dump, size_t i)
{
	const struct rule *rule = &rules[i % 3];
	const char *text = texts[i % 5];
	bool bad = dump->hostile;

	return (struct finding){
		.rule = rule,
		.severity = rule->severity,
		.place = make_place(dump, i % 2 ? "spec" : "name"),
		.id = {"batch/v1", bad ? text : "Job", "ml",
		       bad ? text : "llm"},
		.pod = bad ? text : "Worker",
		.container = bad ? text : "trainer",
		.message =
			bad ? text
			    : "container `trainer` asks for 4 `nvidia.com/gpu`"
			      " but sets no limit, so it is refused",
		.help = bad ? text : "",
		.cause = "",
		.wants = "",
		.policy = bad ? text : "",
		.binding = bad ? text : "",
		.fingerprint = 0x9e3779b97f4a7c15u * (i % 7 + 1),
		.suppressed =
			i % 11 == 10 ? SUPPRESSED_COMMENT : SUPPRESSED_NOT,
		.suppression_reason = bad ? text : "known",
	};
}

static void fill(struct dump *dump, struct finding *findings, size_t n,
		 struct related *related)
{
	for (size_t i = 0; i < n; i++) {
		findings[i] = make_finding(dump, i);
		if (i % 4 == 3) {
			findings[i].related = related;
			findings[i].nrelated = 2;
		}
	}
}

static void count(struct run_counts *counts, const struct finding *findings,
		  size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (findings[i].suppressed)
			counts->suppressed++;
		else if (findings[i].severity == SEVERITY_ERROR)
			counts->errors++;
		else if (findings[i].severity == SEVERITY_WARNING)
			counts->warnings++;
		else
			counts->infos++;
	}
}

static void run(struct dump *dump, const struct report_format *format,
		size_t files, size_t n)
{
	struct finding *findings = calloc(n + 1, sizeof(*findings));
	struct report_options options = {
		.rules = &set, .show_all = true, .version = "1.0.0"};
	struct report_summary summary = {.files = files};
	struct related related[2] = {
		{make_place(dump, "kind"), dump->hostile ? texts[1] : "here"},
		{make_place(dump, "kind"), dump->hostile ? texts[0] : "there"},
	};
	void *state = report_begin(format, stdout, &options);

	related[1].place.file = (uint32_t)files;
	fill(dump, findings, n, related);
	for (size_t i = 0; i < files; i++) {
		char path[64];
		struct report_file file = {(uint32_t)i, path, get_source,
					   get_path,	dump, NULL};

		snprintf(path, sizeof(path),
			 dump->hostile
				 ? "a b/%zu:\",<&>\xc3\xa9\x1b\n\xff%%.yml"
				 : "jobs/train-%zu.yaml",
			 i);
		for (size_t j = 0; j < n; j++)
			findings[j].place.file = (uint32_t)i;
		related[0].place.file = (uint32_t)i;
		format->file(state, &file, findings, n);
		count(&summary.counts, findings, n);
	}
	summary.counts.documents = summary.counts.objects = files;
	report_end(format, state, &summary);
	free(findings);
}

int main(int argc, char **argv)
{
	const struct report_format *format =
		argc > 3 ? report_format_find(argv[1]) : NULL;
	struct dump dump = {.hostile = argc > 4};
	const char *text = dump.hostile ? hostile : plain;

	if (!format) {
		fprintf(stderr, "usage: report_dump FORMAT FILES FINDINGS"
				" [hostile]\n");
		return 2;
	}
	source_init(&dump.source, &dump.arena, "x", text, strlen(text));
	run(&dump, format, strtoul(argv[2], NULL, 10),
	    strtoul(argv[3], NULL, 10));
	arena_release(&dump.arena);
	return 0;
}
