/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a checked expression must not hold though its types are right (cel-go
 * cel/validator.go; apiserver pkg/cel/environment/base.go says which are on):
 * constant durations, timestamps and patterns that cannot be read, aggregates
 * whose items are not of one type.
 */
#include "base/text.h"
#include "rules/cel/check/checker.h"

/* Does the overload fail on these constants? */
static bool fails(struct checker *c, const struct cel_overload *overload,
		  const struct cel_value *args, unsigned n)
{
	struct cel_call call = {
		.arena = c->arena, .overload = overload, .args = args, .n = n};

	return overload && overload->call &&
	       overload->call(&call).kind == CEL_ERROR;
}

/* `matches('a', b)` takes 'a' for the pattern there; so does the server. */
static void check_literal(struct checker *c, const struct cel_expr *expr)
{
	const char *name = expr->call.function;
	const struct cel_expr *arg;
	struct cel_value args[2] = {cel_stringn("", 0)};
	bool pattern = text_eq(name, "matches");

	if (!pattern && !text_eq(name, "duration") &&
	    !text_eq(name, "timestamp"))
		return;
	arg = expr->call.n ? expr->call.args[0] : NULL;
	if (!arg || arg->kind != EXPR_CONST)
		return;
	args[pattern] = arg->constant;
	if (fails(c, expr->call.overloads[0], args, 1 + pattern))
		checker_issue(c, arg, "invalid %s argument", name);
}

static const struct cel_type *item_type(const struct cel_expr *item,
					bool optional)
{
	if (optional && item->type->params[0])
		return item->type->params[0];
	return item->type;
}

/* *first: the type of the first one. */
static bool same_type(struct checker *c, const struct cel_expr *item,
		      bool optional, const struct cel_type **first)
{
	const struct cel_type *type = item_type(item, optional);

	if (!*first)
		*first = type;
	if (cel_type_same(*first, type))
		return true;
	checker_mismatch(c, item, *first, type);
	return false;
}

static void check_list(struct checker *c, const struct cel_expr *expr)
{
	const struct cel_type *first = NULL;
	const bool *optional = expr->list.optional;

	for (unsigned i = 0; i < expr->list.n; i++)
		if (!same_type(c, expr->list.items[i], optional && optional[i],
			       &first))
			return;
}

static void check_map(struct checker *c, const struct cel_expr *expr)
{
	const struct cel_type *key = NULL, *value = NULL;
	const bool *optional = expr->map.optional;

	for (unsigned i = 0; i < expr->map.n; i++) {
		same_type(c, expr->map.keys[i], false, &key);
		same_type(c, expr->map.values[i], optional && optional[i],
			  &value);
	}
}

static void validate(struct cel_expr *expr, void *context)
{
	struct checker *c = context;

	if (expr->kind == EXPR_CALL)
		check_literal(c, expr);
	else if (expr->kind == EXPR_LIST)
		check_list(c, expr);
	else if (expr->kind == EXPR_MAP)
		check_map(c, expr);
}

void checker_validate(struct checker *c)
{
	cel_expr_each(c->program->root, validate, c);
}
