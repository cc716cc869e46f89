/* SPDX-License-Identifier: Apache-2.0 */
/* Calls: which overloads of a function their arguments fit. */
#include "base/buf.h"
#include "base/text.h"
#include "base/vec.h"
#include "rules/cel/check/checker.h"

/* The receiver first. */
struct arguments {
	const struct cel_type **types;
	size_t n;
	bool member;
};

static struct arguments arguments_of(struct checker *c,
				     const struct cel_expr *expr)
{
	struct arguments a = {.member = expr->call.target != NULL};

	a.types = ARENA_ARRAY(c->arena, const struct cel_type *,
			      expr->call.n + 1);
	if (a.member)
		a.types[a.n++] = expr->call.target->type;
	for (unsigned i = 0; i < expr->call.n; i++)
		a.types[a.n++] = expr->call.args[i]->type;
	return a;
}

static void no_overload(struct checker *c, const struct cel_expr *expr,
			const struct arguments *a)
{
	struct buf text;

	buf_init(&text);
	for (size_t i = 0; i < a->n; i++) {
		if (i == a->member)
			buf_addc(&text, '(');
		else if (i)
			buf_adds(&text, ", ");
		cel_type_text(unify_substitute(&c->unifier, a->types[i], true),
			      &text);
		if (!i && a->member)
			buf_addc(&text, '.');
	}
	if (a->n == a->member)
		buf_addc(&text, '(');
	checker_issue(c, expr,
		      "found no matching overload for '%s' applied to '%s)'",
		      expr->call.function, text.data);
	buf_release(&text);
}

/* Does the overload take the arguments? *result: what it gives. */
static bool fits(struct checker *c, const struct cel_signature *s,
		 const struct arguments *a, const struct cel_type **result)
{
	struct instance instance = {.unifier = &c->unifier};
	const struct cel_type *args[CEL_ARGS];

	*result = s->result;
	if (s->member != a->member || s->n != a->n)
		return false;
	if (!s->generic)
		return unify_all_assignable(&c->unifier, a->types, s->args,
					    s->n);
	for (unsigned i = 0; i < s->n; i++)
		args[i] = unify_instantiate(&instance, s->args[i]);
	*result = unify_instantiate(&instance, s->result);
	if (!unify_all_assignable(&c->unifier, a->types, args, s->n))
		return false;
	*result = checker_substitute(c, *result);
	return true;
}

/* `&&` and `||` say which operand is wrong. */
static void check_logic(struct checker *c, struct cel_expr *expr)
{
	const struct cel_type *boolean = cel_type_of_kind(CEL_BOOL);

	expr->type = boolean;
	for (unsigned i = 0; i < expr->call.n; i++) {
		struct cel_expr *arg = expr->call.args[i];

		if (unify_assignable(&c->unifier, arg->type, boolean))
			continue;
		checker_mismatch(c, arg, boolean, arg->type);
		expr->type = cel_type_of_kind(CEL_ERROR);
	}
}

/* The overloads that fit stay; the type is that of all, or dyn. */
static void resolve(struct checker *c, struct cel_expr *expr,
		    const struct cel_signature *signatures, size_t n)
{
	struct arguments a = arguments_of(c, expr);
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
		if (!fits(c, &signatures[i], &a, &result))
			continue;
		left[nleft++] = signatures[i].overload;
		if (!type)
			type = result;
		else if (type->kind != CEL_DYN && !cel_type_same(type, result))
			type = cel_type_of_kind(CEL_DYN);
	}
	expr->type = type ? type : cel_type_of_kind(CEL_ERROR);
	if (!type)
		no_overload(c, expr, &a);
}

/* `sets.contains(a, b)` reads as a member call of `sets`. */
static const struct cel_signature *namespaced(struct checker *c,
					      struct cel_expr *expr, size_t *n)
{
	const char *name = checker_qualified_name(c, expr->call.target);
	const struct cel_signature *found;

	if (!name)
		return NULL;
	name = arena_printf(c->arena, "%s.%s", name, expr->call.function);
	found = cel_env_overloads(c->env, name, n);
	if (found) {
		expr->call.function = name;
		expr->call.target = NULL;
	}
	return found;
}

void checker_call(struct checker *c, struct cel_expr *expr)
{
	const struct cel_signature *found = NULL;
	const char *name = expr->call.function;
	size_t n;

	for (unsigned i = 0; i < expr->call.n; i++)
		checker_check(c, expr->call.args[i]);
	if (expr->call.target)
		found = namespaced(c, expr, &n);
	if (expr->call.target)
		checker_check(c, expr->call.target);
	if (!found)
		found = cel_env_overloads(c->env, name, &n);
	if (found) {
		resolve(c, expr, found, n);
		return;
	}
	expr->type = cel_type_of_kind(CEL_ERROR);
	checker_undeclared(c, expr, name,
			   cel_env_nearest_function(c->env, name));
}
