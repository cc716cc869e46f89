/* SPDX-License-Identifier: Apache-2.0 */
/* Checks calls: finds the overloads of a function that match the arguments. */
#include "base/array.h"
#include "base/buf.h"
#include "base/text.h"
#include "check.h"

static void no_overload(struct checker *c, const struct cel_expr *expr)
{
	unsigned first = expr->call.member; /* index of the first argument */
	struct buf text;

	buf_init(&text);
	for (unsigned i = 0; i < expr->n; i++) {
		if (i == first)
			buf_addc(&text, '(');
		else if (i)
			buf_adds(&text, ", ");
		buf_adds(&text,
			 cel_type_text(c->arena,
				       unify_substitute(&c->unifier,
							expr->parts[i]->type,
							true)));
		if (i < first)
			buf_addc(&text, '.');
	}
	if (expr->n == first)
		buf_addc(&text, '(');
	checker_issue(c, expr,
		      "found no matching overload for '%s' applied to '%s)'",
		      expr->call.function, text.data);
	buf_release(&text);
}

/*
 * True if the overload accepts the arguments. Sets *result to its result type.
 */
static bool fits(struct checker *c, const struct cel_signature *s,
		 const struct cel_expr *expr, const struct cel_type **result)
{
	struct instance instance = {.unifier = &c->unifier};
	const struct cel_type *types[CEL_ARGS], *args[CEL_ARGS];

	*result = s->result;
	if (s->member != expr->call.member || s->n != expr->n)
		return false;
	for (unsigned i = 0; i < s->n; i++)
		types[i] = expr->parts[i]->type;
	if (!s->generic)
		return unify_all_assignable(&c->unifier, types, s->args, s->n);
	for (unsigned i = 0; i < s->n; i++)
		args[i] = unify_instantiate(&instance, s->args[i]);
	*result = unify_instantiate(&instance, s->result);
	if (!unify_all_assignable(&c->unifier, types, args, s->n))
		return false;
	*result = checker_substitute(c, *result);
	return true;
}

/* Checks `&&` and `||`, for which the issue says which operand is wrong. */
static void check_logic(struct checker *c, struct cel_expr *expr)
{
	const struct cel_type *boolean = cel_type_of_kind(CEL_BOOL);

	expr->type = boolean;
	for (unsigned i = 0; i < expr->n; i++) {
		struct cel_expr *arg = expr->parts[i];

		if (unify_assignable(&c->unifier, arg->type, boolean))
			continue;
		checker_mismatch(c, arg, boolean, arg->type);
		expr->type = cel_type_of_kind(CEL_ERROR);
	}
}

/* Keeps the overloads that match. The type of the call is their common result
 * type, or dyn if they differ. */
static void resolve(struct checker *c, struct cel_expr *expr,
		    const struct cel_signature *signatures, size_t n)
{
	const struct cel_overload **left =
		ARENA_ARRAY(c->arena, const struct cel_overload *, n + 1);
	const struct cel_type *type = NULL, *result;
	size_t nleft = 0;

	expr->call.overloads = left;
	if (text_eq(expr->call.function, "_&&_") ||
	    text_eq(expr->call.function, "_||_")) {
		left[0] = signatures[0].overload;
		check_logic(c, expr);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		if (!fits(c, &signatures[i], expr, &result))
			continue;
		left[nleft++] = signatures[i].overload;
		if (!type)
			type = result;
		else if (type->kind != CEL_DYN && !cel_type_same(type, result))
			type = cel_type_of_kind(CEL_DYN);
	}
	expr->type = type ? type : cel_type_of_kind(CEL_ERROR);
	if (!type)
		no_overload(c, expr);
}

/* Returns the overloads of a function with a dot in its name: `sets.contains(a,
 * b)` parses as a member call on `sets`. */
static const struct cel_signature *namespaced(struct checker *c,
					      struct cel_expr *expr, size_t *n)
{
	const char *name = checker_qualified_name(c, expr->parts[0]);
	const struct cel_signature *found;

	if (!name)
		return NULL;
	name = arena_printf(c->arena, "%s.%s", name, expr->call.function);
	found = cel_env_overloads(name, n);
	if (found) {
		expr->call.function = name;
		expr->call.member = false;
		expr->parts++;
		expr->n--;
	}
	return found;
}

void checker_call(struct checker *c, struct cel_expr *expr)
{
	const struct cel_signature *found = NULL;
	const char *name = expr->call.function;
	size_t n;

	for (unsigned i = expr->call.member; i < expr->n; i++)
		checker_check(c, expr->parts[i]);
	if (expr->call.member)
		found = namespaced(c, expr, &n);
	if (expr->call.member)
		checker_check(c, expr->parts[0]);
	if (!found)
		found = cel_env_overloads(name, &n);
	if (found) {
		resolve(c, expr, found, n);
		return;
	}
	expr->type = cel_type_of_kind(CEL_ERROR);
	checker_undeclared(c, expr, name, cel_env_nearest_function(name));
}
