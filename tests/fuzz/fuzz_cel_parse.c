/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses and checks any bytes as an expression. An error has a message and a
 * span inside the text. An accepted expression is a tree whose nodes have
 * unique ids and spans inside the text, and a type if it is compiled.
 *
 * Inputs: 30000
 */
#include "base/err.h"
#include "rules/cel/syntax/ast.h"

struct tree {
	bool *seen;
	uint32_t nexprs;
	size_t len;
};

static void check_expr(struct cel_expr *expr, void *context)
{
	struct tree *tree = context;

	if (expr->id >= tree->nexprs || tree->seen[expr->id])
		BUG("id %u of %u", expr->id, tree->nexprs);
	tree->seen[expr->id] = true;
	if (expr->start > expr->at || expr->at > expr->end ||
	    expr->end > tree->len)
		BUG("span %u-%u, at %u of %zu", expr->start, expr->end,
		    expr->at, tree->len);
}

static void check_issues(const struct cel_issues *issues, size_t len)
{
	for (size_t i = 0; i < issues->n; i++) {
		const struct cel_issue *issue = &issues->items[i];

		if (issue->start > issue->end || issue->end > len)
			BUG("span %zu-%zu of %zu", issue->start, issue->end,
			    len);
		if (!*issue->text)
			BUG("no text");
	}
}

/* Declares the names that the seeds use. */
static const struct cel_env *environment(struct arena *arena)
{
	static const char *const names[][2] = {
		{"object", "dyn"},	{"x", "dyn"},
		{"i", "int"},		{"s", "string"},
		{"l", "list(string)"},	{"m", "map(string, int)"},
		{"o", "optional(int)"}, {"q", "kubernetes.Quantity"},
	};
	size_t n = sizeof(names) / sizeof(*names);
	struct cel_variable *variables =
		ARENA_ARRAY(arena, struct cel_variable, n + 1);

	for (size_t i = 0; i < n; i++) {
		const char *type = names[i][1];

		variables[i].name = names[i][0];
		variables[i].type = cel_type_parse(arena, &type);
	}
	return cel_env_new(arena, variables);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena arena = ARENA_INIT;
	struct cel_issues issues = {.arena = &arena};
	struct tree tree = {.len = size};
	const char *text = (const char *)data;
	struct cel_expr *root =
		cel_parse(&arena, text, size, &tree.nexprs, &issues);
	const struct cel_program *program;

	if (!root == !issues.n)
		BUG("%zu issues", issues.n);
	check_issues(&issues, size);
	tree.seen = ARENA_ARRAY(&arena, bool, tree.nexprs);
	cel_expr_each(root, check_expr, &tree);
	issues.n = 0;
	program = cel_compile(&arena, environment(&arena), text, size, &issues);
	if (!program == !issues.n || (program && !root))
		BUG("%zu issues", issues.n);
	check_issues(&issues, size);
	if (program && !cel_program_type(program))
		BUG("no type");
	arena_release(&arena);
	return 0;
}
