/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as an expression. What is refused has words and a span inside of
 * the text; what is taken is a tree whose parts have ids of their own and
 * bytes inside of the text.
 */
#include <stdlib.h>

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena arena = ARENA_INIT;
	struct cel_issues issues = {.arena = &arena};
	struct tree tree = {.len = size};
	struct cel_expr *root = cel_parse(&arena, (const char *)data, size,
					  &tree.nexprs, &issues);

	if (!root == !issues.n)
		BUG("%zu issues", issues.n);
	check_issues(&issues, size);
	tree.seen = ARENA_ARRAY(&arena, bool, tree.nexprs);
	cel_expr_each(root, check_expr, &tree);
	arena_release(&arena);
	return 0;
}
