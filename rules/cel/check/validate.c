/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks well-typed expressions for literals that would fail: literals that
 * cannot be converted, aggregates with items of different types, formats that
 * do not fit their arguments (cel-go cel/validator.go, ext/formatting.go). The
 * API server enables some of cel-go's checks (apiserver
 * pkg/cel/environment/base.go).
 */
#include "base/text.h"
#include "check.h"
#include "rules/cel/lib/literal.h"

/* True if the call fails for this constant argument. */
static bool fails(struct checker *c, const struct cel_expr *call,
		  const struct cel_expr *arg)
{
	const struct cel_overload *overload = call->call.overloads[0];
	struct cel_call run = {.arena = c->arena,
			       .overload = overload,
			       .args = &arg->constant,
			       .n = 1};

	/* null is accepted as a timestamp, but the overload cannot be called
	 * with it. */
	return arg->constant.kind == CEL_NULL ||
	       overload->call(&run).kind == CEL_ERROR;
}

/* Checks a constant argument. Like the API server, it takes 'a' in
 * `matches('a', b)` for the pattern. */
static void check_argument(struct checker *c, const struct cel_expr *call)
{
	const char *name = call->call.function;
	unsigned first = call->call.member;
	const struct cel_expr *arg =
		call->n > first ? call->parts[first] : NULL;
	bool wrong = false;

	if (!arg || arg->kind != EXPR_CONST)
		return;
	if (text_eq(name, "matches"))
		wrong = !cel_literal_regex(arg->constant.text);
	else if (text_eq(name, "duration") || text_eq(name, "timestamp"))
		wrong = fails(c, call, arg);
	if (wrong)
		checker_issue(c, arg, "invalid %s argument", name);
}

/* --- formats ------------------------------------------------------------- */

/* True if the parts of an argument that is a literal list or map match its verb
 * as well. */
static bool parts_fit(struct checker *c, char verb, struct cel_expr **parts,
		      unsigned n)
{
	for (unsigned k = 0; k < n; k++) {
		const struct cel_expr *e = parts[k];
		const char *problem =
			cel_format_refusal(c->arena, verb, e->type);

		if (problem) {
			checker_issue(c, e, "%s", problem);
			return false;
		}
		if ((e->kind == EXPR_LIST || e->kind == EXPR_MAP) &&
		    !parts_fit(c, verb, e->parts, e->n))
			return false;
	}
	return true;
}

static void check_format(struct checker *c, const struct cel_expr *call)
{
	const struct cel_expr *text = call->parts[0], *list = call->parts[1];
	const struct cel_type **types;
	const char *problem;
	char *verbs;

	if (text->kind != EXPR_CONST || text->constant.kind != CEL_STRING ||
	    list->kind != EXPR_LIST)
		return;
	types = ARENA_ARRAY(c->arena, const struct cel_type *, list->n);
	verbs = ARENA_ARRAY(c->arena, char, list->n);
	for (unsigned i = 0; i < list->n; i++)
		types[i] = list->parts[i]->type;
	problem = cel_format_check(c->arena, text->constant.text, types,
				   list->n, verbs);
	if (problem)
		checker_issue(c, call, "%s", problem);
	for (unsigned i = 0; i < list->n && !problem; i++) {
		if (!parts_fit(c, verbs[i], &list->parts[i], 1))
			break;
	}
}

/* --- aggregates ---------------------------------------------------------- */

/* True if the item has the type of the first one, which is stored in *first. */
static bool same_type(struct checker *c, const struct cel_expr *item,
		      bool optional, const struct cel_type **first)
{
	const struct cel_type *type = item->type;

	if (optional && type->kind == CEL_OPTIONAL)
		type = type->params[0];
	if (!*first)
		*first = type;
	if (cel_type_same(*first, type))
		return true;
	checker_mismatch(c, item, *first, type);
	return false;
}

/* Reports items whose type differs: the first one of a list, all of a map. */
static void check_aggregate(struct checker *c, const struct cel_expr *expr)
{
	const struct cel_type *first[2] = {0}; /* types of values, of keys */
	bool is_map = expr->kind == EXPR_MAP;

	for (unsigned i = 0; i < expr->n; i++)
		if (!same_type(c, expr->parts[i],
			       expr->optional && expr->optional[i],
			       &first[is_map && i % 2 == 0]) &&
		    !is_map)
			return;
}

/* --- all expressions ----------------------------------------------------- */

static void exempt(struct cel_expr *expr, void *context)
{
	struct checker *c = context;

	c->exempt[expr->id] = true;
}

/* Inside of a call of format(), aggregates may have items of different
 * types. */
static void validate(struct cel_expr *expr, void *context)
{
	struct checker *c = context;

	if (expr->kind == EXPR_CALL) {
		check_argument(c, expr);
		if (!text_eq(expr->call.function, "format"))
			return;
		if (!c->exempt[expr->id])
			cel_expr_each(expr, exempt, c);
		if (expr->call.member && expr->n == 2)
			check_format(c, expr);
	} else if (!c->exempt[expr->id] &&
		   (expr->kind == EXPR_LIST || expr->kind == EXPR_MAP)) {
		check_aggregate(c, expr);
	}
}

void checker_validate(struct checker *c)
{
	c->exempt = ARENA_ARRAY(c->arena, bool, c->program->nexprs);
	cel_expr_each(c->program->root, validate, c);
}
