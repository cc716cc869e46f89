/* SPDX-License-Identifier: Apache-2.0 */
/* Making, copying and walking expressions. */
#include "base/vec.h"
#include "rules/cel/syntax/parser.h"

/*
 * optMap() doubles what is before it, so that a short text can stand for more
 * than memory holds. Without that, no text of CEL_CODE_POINTS reaches this.
 */
enum { EXPRS_MAX = 150000 };

void cel_issue(struct cel_issues *issues, size_t start, size_t end,
	       const char *fmt, ...)
{
	va_list ap;
	struct cel_issue issue = {.start = start, .end = end};

	va_start(ap, fmt);
	issue.text = arena_vprintf(issues->arena, fmt, ap);
	va_end(ap);
	*VEC_PUSH(issues->arena, issues->items, issues->n, issues->size) =
		issue;
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

/* NOLINTNEXTLINE(readability-function-size): the parts of a call */
struct cel_expr *cel_call_new(struct cel_parser *p, struct cel_place place,
			      const char *function, struct cel_expr *target,
			      struct cel_expr *const *args, unsigned n)
{
	struct cel_expr *call = cel_expr_new(p, EXPR_CALL, place);

	call->call.function = function;
	call->call.target = target;
	call->call.args = ARENA_ARRAY(p->arena, struct cel_expr *, n);
	for (unsigned i = 0; i < n; i++)
		call->call.args[i] = args[i];
	call->call.n = n;
	return call;
}

/* The places below an expression that hold one. */
struct children {
	struct cel_expr **one[5];
	struct {
		struct cel_expr ***items;
		unsigned n;
	} many[2];
};

static struct children children_of(struct cel_expr *e)
{
	struct children c = {0};

	switch (e->kind) {
	case EXPR_SELECT:
		c.one[0] = &e->select.operand;
		break;
	case EXPR_CALL:
		c.one[0] = &e->call.target;
		c.many[0].items = &e->call.args, c.many[0].n = e->call.n;
		break;
	case EXPR_LIST:
		c.many[0].items = &e->list.items, c.many[0].n = e->list.n;
		break;
	case EXPR_MAP:
		c.many[0].items = &e->map.keys, c.many[0].n = e->map.n;
		c.many[1].items = &e->map.values, c.many[1].n = e->map.n;
		break;
	case EXPR_FOLD:
		c.one[0] = &e->fold.range, c.one[1] = &e->fold.init;
		c.one[2] = &e->fold.condition, c.one[3] = &e->fold.step;
		c.one[4] = &e->fold.result;
		break;
	default:
		break;
	}
	return c;
}

void cel_expr_each(struct cel_expr *root,
		   void (*visit)(struct cel_expr *expr, void *context),
		   void *context)
{
	struct children c;

	if (!root)
		return;
	visit(root, context);
	c = children_of(root);
	for (int i = 0; i < 5; i++)
		if (c.one[i])
			cel_expr_each(*c.one[i], visit, context);
	for (int i = 0; i < 2; i++)
		for (unsigned k = 0; k < c.many[i].n; k++)
			cel_expr_each((*c.many[i].items)[k], visit, context);
}

struct cel_expr *cel_expr_copy(struct cel_parser *p,
			       const struct cel_expr *expr)
{
	struct cel_place place = {expr->start, expr->end, expr->at};
	struct cel_expr *copy = cel_expr_new(p, expr->kind, place);
	uint32_t id = copy->id;
	struct children c;

	if (p->stopped)
		return copy;
	*copy = *expr;
	copy->id = id;
	c = children_of(copy);
	for (int i = 0; i < 5; i++)
		if (c.one[i] && *c.one[i])
			*c.one[i] = cel_expr_copy(p, *c.one[i]);
	for (int i = 0; i < 2; i++) {
		unsigned n = c.many[i].n;
		struct cel_expr **items, **old;

		if (!n)
			continue;
		old = *c.many[i].items;
		items = ARENA_ARRAY(p->arena, struct cel_expr *, n);
		for (unsigned k = 0; k < n; k++)
			items[k] = cel_expr_copy(p, old[k]);
		*c.many[i].items = items;
	}
	return copy;
}
