/* SPDX-License-Identifier: Apache-2.0 */
/* Creates, copies and walks expressions. */
#include "base/vec.h"
#include "rules/cel/syntax/parser.h"

/*
 * Largest number of expressions in a tree. optMap() repeats the text before it,
 * so that a short text could expand beyond memory. Without it, no text of
 * CEL_CODE_POINTS reaches this limit.
 */
enum { EXPRS_MAX = 150000 };

void cel_issue(struct cel_issues *issues, size_t start, size_t end,
	       const char *text)
{
	*VEC_PUSH(issues->arena, issues->items, issues->n, issues->size) =
		(struct cel_issue){start, end, text};
}

struct cel_expr *cel_expr_new(struct cel_parser *p, enum cel_expr_kind kind,
			      struct cel_place place)
{
	struct cel_expr *expr = ARENA_NEW(p->arena, struct cel_expr);

	if (p->nexprs == EXPRS_MAX)
		cel_parser_stop(p, place,
				"expression expands to more than %d "
				"expressions",
				EXPRS_MAX);
	expr->kind = kind;
	expr->id = p->nexprs++;
	expr->start = place.start;
	expr->end = place.end;
	expr->at = place.at;
	return expr;
}

struct cel_expr *cel_call_new(struct cel_parser *p, struct cel_place place,
			      const char *function,
			      struct cel_expr *const *parts, unsigned n)
{
	struct cel_expr *call = cel_expr_new(p, EXPR_CALL, place);

	call->call.function = function;
	call->parts = ARENA_ARRAY(p->arena, struct cel_expr *, n);
	for (unsigned i = 0; i < n; i++)
		call->parts[i] = parts[i];
	call->n = n;
	return call;
}

void cel_expr_each(struct cel_expr *root,
		   void (*visit)(struct cel_expr *expr, void *context),
		   void *context)
{
	if (!root)
		return;
	visit(root, context);
	for (unsigned i = 0; i < root->n; i++)
		cel_expr_each(root->parts[i], visit, context);
}

struct cel_expr *cel_expr_copy(struct cel_parser *p,
			       const struct cel_expr *expr)
{
	struct cel_place place = {expr->start, expr->end, expr->at};
	struct cel_expr *copy = cel_expr_new(p, expr->kind, place);
	uint32_t id = copy->id;

	if (p->stopped)
		return copy;
	*copy = *expr;
	copy->id = id;
	copy->parts = ARENA_ARRAY(p->arena, struct cel_expr *, expr->n);
	for (unsigned i = 0; i < expr->n; i++)
		copy->parts[i] = cel_expr_copy(p, expr->parts[i]);
	return copy;
}
