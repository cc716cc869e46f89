/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads any bytes as a file of rules. Either the file loads, or there are
 * problems with positions inside of the text and printable messages. Rules that
 * load check a manifest twice, with the same result.
 *
 * Inputs: 15000
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/text.h"
#include "engine/registry.h"
#include "engine/run.h"

static const char manifest[] =
	"apiVersion: batch/v1\n"
	"kind: Job\n"
	"metadata: {name: a, namespace: ml-a, labels: {team: x, n: \"1\"}}\n"
	"spec:\n"
	"  parallelism: 2\n"
	"  template:\n"
	"    spec:\n"
	"      nodeSelector: {a/b: ${X}}\n"
	"      containers:\n"
	"      - {name: a, image: \"x.io/a:1\", args: [a, b, 1, 2.5, null]}\n"
	"      - name: b\n"
	"        resources: {limits: {nvidia.com/gpu: 1, memory: 1Gi}}\n";

static struct rule_set rules;

static void check_problem(const struct policy_problem *problem, unsigned lines)
{
	if (problem->line > lines + 1 || !*problem->text)
		BUG("problem at line %u of %u", problem->line, lines);
	for (const char *c = problem->text; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			BUG("control character %d in a problem", *c);
}

static void take(void *context, uint32_t file, struct finding **findings,
		 size_t n)
{
	uint64_t *hash = context;

	for (size_t i = 0; i < n; i++) {
		const struct finding *f = findings[i];

		if (!f->place.line || !*f->message)
			BUG("finding without a place or a message");
		for (const char *c = f->message; *c; c++)
			if ((unsigned char)*c < ' ')
				BUG("control character %d in a message", *c);
		*hash = text_hash(f->message, strlen(f->message),
				  *hash + f->place.start);
	}
}

static uint64_t judge(const struct policy *policy)
{
	struct arena docs = ARENA_INIT, lines = ARENA_INIT;
	struct source source;
	uint64_t hash = 0;
	struct run_options options = {.rules = &rules,
				      .file_values = true,
				      .render_repairs = true,
				      .today = 20000,
				      .sink = take,
				      .context = &hash};
	struct run_file file = {.source = &source, .policy = policy};
	struct run run;

	source_init(&source, &lines, "a.yaml", manifest, strlen(manifest));
	run_init(&run, &options);
	run_file(&run, &file, &docs, NULL, NULL);
	run_release(&run);
	arena_release(&docs);
	arena_release(&lines);
	return hash;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct policy_options options = {.today = 20000,
						      .rules_only = true};
	/* A separate copy, so that a read past its end is detected. */
	char *text = malloc(size ? size : 1);
	struct policy_problems problems = {0};
	struct policy *policy;
	unsigned lines = 1;

	rules = (struct rule_set){.items = all_rules, .n = all_rules_count};
	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	for (size_t i = 0; i < size; i++)
		lines += text[i] == '\n';
	policy = policy_parse(&rules, &(struct policy_text){"f", text, size},
			      &options, &problems);
	if (!policy == !problems.errors)
		BUG("%zu errors and %s policy", problems.errors,
		    policy ? "a" : "no");
	for (size_t i = 0; i < problems.n; i++)
		check_problem(&problems.items[i], lines);
	if (policy && judge(policy) != judge(policy))
		BUG("two runs differ");
	policy_free(policy);
	policy_problems_release(&problems);
	free(text);
	return 0;
}
