/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports the problems of policies that are open in the editor, as `gpugate
 * lint` prints them. Linting uses the saved file.
 */
#include "session.h"

#include <string.h>

#include "base/text.h"
#include "base/vec.h"

static const struct rule policy_rule = {
	.name = "policy",
	.summary = "a problem in the policy; see gpugate-policy(5)",
};

bool lsp_is_policy(const struct lsp_document *d)
{
	return text_ends(d->path, "/.gpugate.yaml") ||
	       (text_find(d->text.bytes.data, d->text.bytes.len,
			  "apiVersion: gpugate.dev/") &&
		text_find(d->text.bytes.data, d->text.bytes.len,
			  "kind: Policy"));
}

static void keep_problem(struct lsp_document *d, struct source *source,
			 const struct policy_problem *p, size_t *size)
{
	size_t len, at = 0;
	const char *line = source_line(source, p->line ? p->line : 1, &len);

	for (unsigned i = 1; i < p->column && at < len; i++) {
		size_t bytes = utf8_length(line + at, len - at);

		at += bytes ? bytes : 1;
	}
	*VEC_PUSH(&d->arena, d->mistakes, d->nmistakes,
		  *size) = (struct lsp_finding){
		.rule = &policy_rule,
		.severity = p->warning ? SEVERITY_WARNING : SEVERITY_ERROR,
		.start = (uint32_t)(line + at - source->text),
		.end = (uint32_t)(line + len - source->text),
		.line = p->line,
		.message = arena_strdup(&d->arena, p->text),
		.help = ""};
}

void lsp_policy_mistakes(struct lsp_document *d)
{
	struct options options = {.isolated = true};
	struct policies policies;
	struct policy_problems problems = {0};
	struct policy_text text = {d->path, d->text.bytes.data,
				   d->text.bytes.len};
	struct source source;
	size_t size = 0;

	arena_reset(&d->arena);
	d->mistakes = NULL;
	d->nmistakes = 0;
	source_init(&source, &d->arena, d->path, text.text, text.len);
	if (!policies_init(&policies, &options, "/"))
		policies_check(&policies, &text, &problems);
	for (size_t i = 0; i < problems.n; i++)
		if (text_eq(problems.items[i].file, d->path))
			keep_problem(d, &source, &problems.items[i], &size);
	policy_problems_release(&problems);
	policies_release(&policies);
}

struct rule_set lsp_rules(const struct lsp_document *d)
{
	struct lint *lint = d->root->pass ? &d->root->pass->lint : NULL;
	long file = lint ? files_find(&lint->files, d->path) : -1;
	struct policy_path_rule rule;

	if (file < 0)
		return program_rules();
	return *policy_rules(
		job_policy(&lint->job, (size_t)file, &lint->set_path, &rule));
}
