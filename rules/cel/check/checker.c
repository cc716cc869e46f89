/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The type checker (cel-go checker/checker.go): derives the types of
 * expressions from those of their parts, and reports issues in cel-go's words.
 */
#include "check.h"

#include <string.h>

#include "base/array.h"
#include "base/text.h"

/*
 * Largest number of parts of a type. Nested literals double them, so that a
 * short text could have a type that takes too long to process.
 */
enum { TYPE_PARTS = 1000 };

static const struct cel_type *plain(enum cel_kind kind)
{
	return cel_type_of_kind(kind);
}

/* --- issues -------------------------------------------------------------- */

void checker_issue(struct checker *c, const struct cel_expr *expr,
		   const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	cel_issue(c->issues, expr->at, expr->end,
		  arena_vprintf(c->issues->arena, fmt, ap));
	va_end(ap);
	c->wrong = true;
}

void checker_mismatch(struct checker *c, const struct cel_expr *expr,
		      const struct cel_type *want, const struct cel_type *got)
{
	checker_issue(c, expr, "expected type '%s' but found '%s'",
		      cel_type_text(c->arena, want),
		      cel_type_text(c->arena, got));
}

const struct cel_type *checker_substitute(struct checker *c,
					  const struct cel_type *type)
{
	return unify_substitute(&c->unifier, type, false);
}

void checker_undeclared(struct checker *c, const struct cel_expr *expr,
			const char *name, const char *near)
{
	checker_issue(c, expr,
		      "undeclared reference to '%s' (in container '')%s%s%s",
		      name, near ? "; did you mean `" : "", near ? near : "",
		      near ? "`?" : "");
}

/* --- names --------------------------------------------------------------- */

/* Returns the innermost variable of a comprehension to which `name` refers, or
 * -1. An absolute name, as in `.name`, never refers to one. */
static int find_local(const struct checker *c, const struct cel_expr *name)
{
	int i = name->ident.absolute ? -1 : (int)c->nlocals - 1;

	while (i >= 0 && !text_eq(c->locals[i].name, name->ident.name))
		i--;
	return i;
}

/* True if the name is known; stores its kind in expr. local is the
 * comprehension variable to which it refers, or -1. */
static bool resolve(struct checker *c, struct cel_expr *expr, const char *name,
		    int local)
{
	enum cel_name is = NAME_TYPE;
	const struct cel_type *type = NULL, *named = NULL;
	unsigned index = 0;
	int variable = cel_env_variable(c->env, name);

	if (local >= 0) {
		is = NAME_LOCAL;
		index = (unsigned)local;
		type = c->locals[local].type;
	}
	if (!type && variable >= 0) {
		is = NAME_VARIABLE;
		index = (unsigned)variable;
		type = c->env->variables[index].type;
	}
	if (!type && (named = cel_env_type(name)))
		type = cel_type_with(c->arena, CEL_TYPE, named, NULL);
	if (!type)
		return false;
	expr->kind = EXPR_IDENT;
	expr->n = 0;
	expr->type = type;
	expr->ident.name = name;
	expr->ident.absolute = false;
	expr->ident.is = is;
	expr->ident.index = index;
	expr->ident.named = named;
	return true;
}

/*
 * Returns the valid name that is most similar; variables of comprehensions come
 * first.
 */
static const char *nearest_name(struct checker *c, const char *name)
{
	const char **names = NULL;
	size_t n = 0, size = 0;

	for (size_t i = c->nlocals; i--;)
		if (c->locals[i].name[0] != '@' && c->locals[i].name[0] != '#')
			*VEC_PUSH(c->arena, names, n, size) = c->locals[i].name;
	for (size_t i = 0; i < c->env->n; i++)
		*VEC_PUSH(c->arena, names, n, size) = c->env->variables[i].name;
	return text_nearest(name, names, n);
}

static void check_ident(struct checker *c, struct cel_expr *expr)
{
	const char *name = expr->ident.name;

	if (resolve(c, expr, name, find_local(c, expr)))
		return;
	expr->type = plain(CEL_ERROR);
	checker_undeclared(c, expr, name, nearest_name(c, name));
}

const char *checker_qualified_name(struct checker *c,
				   const struct cel_expr *expr)
{
	const char *before;

	if (expr->kind == EXPR_IDENT)
		return expr->ident.name;
	if (expr->kind != EXPR_SELECT || expr->select.test)
		return NULL;
	before = checker_qualified_name(c, expr->parts[0]);
	return before ? arena_printf(c->arena, "%s.%.*s", before,
				     (int)expr->select.field.len,
				     expr->select.field.data)
		      : NULL;
}

/* --- selections ---------------------------------------------------------- */

static const struct cel_type *field_type(struct checker *c,
					 const struct cel_expr *expr,
					 const struct cel_type *object,
					 struct cel_text name)
{
	const char **names = NULL, *near;
	size_t n = 0, size = 0;

	for (const struct cel_field *f = object->fields; f && f->name; f++) {
		if (cel_text_eq(name, f->name))
			return f->type;
		*VEC_PUSH(c->arena, names, n, size) = f->name;
	}
	near = text_nearest(arena_strndup(c->arena, name.data, name.len), names,
			    n);
	checker_issue(c, expr, "undefined field '%.*s'%s%s%s", (int)name.len,
		      name.data, near ? "; did you mean `" : "",
		      near ? near : "", near ? "`?" : "");
	return plain(CEL_ERROR);
}

static const struct cel_type *no_fields(struct checker *c,
					const struct cel_expr *expr,
					const struct cel_type *type)
{
	checker_issue(c, expr, "type '%s' does not support field selection",
		      cel_type_text(c->arena, type));
	return plain(type->kind == CEL_OPAQUE ? CEL_ERROR : CEL_DYN);
}

static const struct cel_type *select_type(struct checker *c,
					  const struct cel_expr *expr,
					  struct cel_text field, bool optional)
{
	const struct cel_type *type =
		checker_substitute(c, expr->parts[0]->type);
	const struct cel_type *result = plain(CEL_DYN);

	if (type->kind == CEL_OPTIONAL) {
		optional = true;
		type = type->params[0];
	}
	if (type->kind == CEL_MAP)
		result = type->params[1];
	else if (type->kind == CEL_OBJECT)
		result = field_type(c, expr, type, field);
	else if (type->kind == CEL_PARAM)
		unify_assignable(&c->unifier, plain(CEL_DYN), type);
	else if (type->kind != CEL_DYN && type->kind != CEL_ERROR)
		result = no_fields(c, expr, type);
	return optional ? cel_type_with(c->arena, CEL_OPTIONAL, result, NULL)
			: result;
}

static void check_select(struct checker *c, struct cel_expr *expr)
{
	const char *name = checker_qualified_name(c, expr);
	const struct cel_expr *first = expr;

	/* The chain may be the name of a variable with dots, unless its first
	 * word is a comprehension variable. */
	while (name && first->kind == EXPR_SELECT)
		first = first->parts[0];
	if (name && find_local(c, first) < 0 && resolve(c, expr, name, -1))
		return;
	checker_check(c, expr->parts[0]);
	expr->type = checker_substitute(
		c, select_type(c, expr, expr->select.field, false));
	if (expr->select.test)
		expr->type = plain(CEL_BOOL);
}

/* For `a.?b` the field is a constant made by the parser. */
static void check_optional_select(struct checker *c, struct cel_expr *expr)
{
	struct cel_expr *field = expr->parts[1];
	static const struct cel_overload *const none[] = {NULL};

	checker_check(c, expr->parts[0]);
	field->type = plain(CEL_STRING);
	expr->call.overloads = none;
	expr->type = checker_substitute(
		c, select_type(c, expr, field->constant.text, true));
}

/* --- aggregates ---------------------------------------------------------- */

/* Returns the common type of all items so far and one more, or dyn if there is
 * none (checker_validate() rejects most of those). */
static const struct cel_type *join(struct checker *c,
				   const struct cel_type *before,
				   const struct cel_type *type)
{
	if (!before)
		return type;
	return unify_assignable(&c->unifier, before, type)
		       ? unify_general(before, type)
		       : plain(CEL_DYN);
}

/* Returns the type of an item or value. An optional item must have an optional
 * type, whose parameter is returned. */
static const struct cel_type *unwrap(struct checker *c,
				     const struct cel_expr *item, bool optional)
{
	if (!optional || item->type->kind == CEL_DYN)
		return item->type;
	if (item->type->kind == CEL_OPTIONAL)
		return item->type->params[0];
	checker_mismatch(
		c, item,
		cel_type_with(c->arena, CEL_OPTIONAL, item->type, NULL),
		item->type);
	return item->type;
}

static unsigned count_parts(const struct cel_type *type, unsigned limit)
{
	unsigned n = 1;

	for (int i = 0; i < CEL_TYPE_PARAMS && n < limit; i++)
		if (type->params[i])
			n += count_parts(type->params[i], limit - n);
	return n;
}

static void check_aggregate(struct checker *c, struct cel_expr *expr)
{
	bool is_map = expr->kind == EXPR_MAP;
	const struct cel_type *key = NULL, *value = NULL;

	for (unsigned i = 0; i < expr->n; i++) {
		struct cel_expr *part = expr->parts[i];
		const struct cel_type **type =
			is_map && i % 2 == 0 ? &key : &value;

		checker_check(c, part);
		*type = join(
			c, *type,
			unwrap(c, part, expr->optional && expr->optional[i]));
	}
	if (!key && is_map)
		key = unify_variable(&c->unifier);
	if (!value)
		value = unify_variable(&c->unifier);
	expr->type = is_map ? cel_type_with(c->arena, CEL_MAP, key, value)
			    : cel_type_with(c->arena, CEL_LIST, value, NULL);
	if (count_parts(expr->type, TYPE_PARTS) < TYPE_PARTS)
		return;
	checker_issue(c, expr, "the type of the literal is too large");
	expr->type = plain(CEL_ERROR);
}

/* --- comprehensions ------------------------------------------------------ */

/* Declares a local variable and returns its slot. */
static unsigned declare(struct checker *c, const char *name,
			const struct cel_type *type)
{
	*VEC_PUSH(c->arena, c->locals, c->nlocals, c->locals_size) =
		(struct local){name, type};
	if (c->nlocals > c->program->nslots)
		c->program->nslots = (unsigned)c->nlocals;
	return (unsigned)c->nlocals - 1;
}

/*
 * Sets the types of the comprehension's variables. For a list they are an item,
 * or an index and an item. For a map they are a key, or a key and a value.
 */
static void range_types(struct checker *c, const struct cel_expr *expr,
			const struct cel_type *types[2])
{
	const struct cel_type *range =
		checker_substitute(c, expr->parts[FOLD_RANGE]->type);

	types[0] = types[1] = plain(CEL_DYN);
	switch (range->kind) {
	case CEL_LIST:
		types[0] = types[1] = range->params[0];
		if (expr->fold.var2)
			types[0] = plain(CEL_INT);
		break;
	case CEL_MAP:
		types[0] = range->params[0];
		types[1] = range->params[1];
		break;
	case CEL_DYN:
	case CEL_ERROR:
	case CEL_PARAM:
		unify_assignable(&c->unifier, plain(CEL_DYN), range);
		break;
	default:
		checker_issue(c, expr->parts[FOLD_RANGE],
			      "expression of type '%s' cannot be range of a "
			      "comprehension (must be list, map, or dynamic)",
			      cel_type_text(c->arena, range));
		types[0] = types[1] = plain(CEL_ERROR);
	}
}

static void check_as(struct checker *c, struct cel_expr *expr,
		     const struct cel_type *type)
{
	checker_check(c, expr);
	if (!unify_assignable(&c->unifier, type, expr->type))
		checker_mismatch(c, expr, type, expr->type);
}

static void check_fold(struct checker *c, struct cel_expr *expr)
{
	size_t outside = c->nlocals;
	struct cel_expr **parts = expr->parts;
	const struct cel_type *types[2];

	checker_check(c, parts[FOLD_RANGE]);
	checker_check(c, parts[FOLD_INIT]);
	expr->fold.accumulator_slot =
		declare(c, expr->fold.accumulator, parts[FOLD_INIT]->type);
	range_types(c, expr, types);
	expr->fold.slot = declare(c, expr->fold.var, types[0]);
	if (expr->fold.var2)
		expr->fold.slot2 = declare(c, expr->fold.var2, types[1]);
	check_as(c, parts[FOLD_CONDITION], plain(CEL_BOOL));
	check_as(c, parts[FOLD_STEP], parts[FOLD_INIT]->type);
	c->nlocals = outside + 1;
	checker_check(c, parts[FOLD_RESULT]);
	c->nlocals = outside;
	expr->type = checker_substitute(c, parts[FOLD_RESULT]->type);
}

/* --- all expressions ----------------------------------------------------- */

void checker_check(struct checker *c, struct cel_expr *expr)
{
	switch (expr->kind) {
	case EXPR_CONST:
		expr->type = plain(expr->constant.kind);
		break;
	case EXPR_IDENT:
		check_ident(c, expr);
		break;
	case EXPR_SELECT:
		check_select(c, expr);
		break;
	case EXPR_CALL:
		if (text_eq(expr->call.function, "_?._"))
			check_optional_select(c, expr);
		else
			checker_call(c, expr);
		break;
	case EXPR_LIST:
	case EXPR_MAP:
		check_aggregate(c, expr);
		break;
	case EXPR_FOLD:
		check_fold(c, expr);
		break;
	}
}

/* Makes a type dynamic if no use has determined it. */
static void settle(struct cel_expr *expr, void *context)
{
	struct checker *c = context;

	expr->type = unify_substitute(&c->unifier, expr->type, true);
}

int cel_check(struct arena *arena, struct cel_program *program,
	      struct cel_issues *issues)
{
	struct checker c = {
		.arena = arena,
		.env = program->env,
		.program = program,
		.issues = issues,
		.unifier.arena = arena,
	};

	checker_check(&c, program->root);
	if (c.wrong)
		return -1;
	cel_expr_each(program->root, settle, &c);
	checker_validate(&c);
	return c.wrong ? -1 : 0;
}
