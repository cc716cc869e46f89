/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Macros, expanded as cel-go expands them: parser/macro.go,
 * ext/comprehensions.go (two variables), cel/library.go (optionals),
 * ext/lists.go (sortBy). Those that Kubernetes 1.36 enables
 * (apiserver pkg/cel/environment/base.go).
 */
#include "base/text.h"
#include "rules/cel/syntax/parser.h"

struct expansion {
	struct cel_parser *p;
	struct cel_place place;
	const char *macro;
	struct cel_expr *target, **args;
	unsigned n;
};

/* --- parts --------------------------------------------------------------- */

static struct cel_expr *constant(struct expansion *m, struct cel_value value)
{
	struct cel_expr *expr = cel_expr_new(m->p, EXPR_CONST, m->place);

	expr->constant = value;
	return expr;
}

static struct cel_expr *ident(struct expansion *m, const char *name)
{
	struct cel_expr *expr = cel_expr_new(m->p, EXPR_IDENT, m->place);

	expr->ident.name = name;
	return expr;
}

static struct cel_expr *accumulator(struct expansion *m)
{
	return ident(m, CEL_ACCUMULATOR);
}

#define CALL(m, function, ...)                                                 \
	cel_call_new((m)->p, (m)->place, (function), NULL,                     \
		     (struct cel_expr *[]){__VA_ARGS__},                       \
		     sizeof((struct cel_expr *[]){__VA_ARGS__}) /              \
			     sizeof(struct cel_expr *))

static struct cel_expr *member(struct expansion *m, struct cel_expr *target,
			       const char *function)
{
	return cel_call_new(m->p, m->place, function, target, NULL, 0);
}

/* Of one item, or empty. */
static struct cel_expr *list(struct expansion *m, struct cel_expr *item)
{
	struct cel_expr *expr = cel_expr_new(m->p, EXPR_LIST, m->place);

	expr->list.n = item != NULL;
	expr->list.items = ARENA_ARRAY(m->p->arena, struct cel_expr *, 1);
	expr->list.items[0] = item;
	return expr;
}

static struct cel_expr *refuse(struct expansion *m, struct cel_expr *where,
			       const char *why)
{
	struct cel_place place = {where->start, where->end, where->start};

	cel_parser_issue(m->p, place, "%s", why);
	return constant(m, cel_null());
}

/* --- folds --------------------------------------------------------------- */

/* The name of a variable; NULL: an issue is recorded. */
static const char *variable(struct expansion *m, unsigned i, const char *issue)
{
	struct cel_expr *arg = m->args[i];

	if (arg->kind != EXPR_IDENT) {
		refuse(m, arg, issue);
		return NULL;
	}
	if (text_eq(arg->ident.name, "__result__")) {
		refuse(m, arg,
		       "iteration variable overwrites accumulator variable");
		return NULL;
	}
	/* With a dot it is declared, and nothing refers to it. */
	return arg->ident.absolute
		       ? arena_printf(m->p->arena, ".%s", arg->ident.name)
		       : arg->ident.name;
}

/* A fold over the target with the variables that the first arguments name.
 * NULL: they name none. */
static struct cel_expr *fold(struct expansion *m, unsigned nvars,
			     const char *issue)
{
	struct cel_expr *e;
	const char *var = variable(m, 0, issue), *var2 = NULL;

	if (var && nvars == 2)
		var2 = variable(m, 1, issue);
	if (!var || (nvars == 2 && !var2))
		return NULL;
	if (var2 && text_eq(var, var2)) {
		refuse(m, m->args[1],
		       arena_printf(m->p->arena, "duplicate variable name: %s",
				    var));
		return NULL;
	}
	e = cel_expr_new(m->p, EXPR_FOLD, m->place);
	e->fold.range = m->target;
	e->fold.var = var;
	e->fold.var2 = var2;
	e->fold.accumulator = CEL_ACCUMULATOR;
	e->fold.macro = m->macro;
	e->fold.condition = constant(m, cel_bool(true));
	e->fold.result = accumulator(m);
	return e;
}

static struct cel_expr *nothing(struct expansion *m)
{
	return constant(m, cel_null());
}

static struct cel_expr *expand_quantifier(struct expansion *m)
{
	struct cel_expr *e = fold(m, m->n - 1,
				  "argument must be a simple name"),
			*test = m->args[m->n - 1], *go_on;
	bool all = text_eq(m->macro, "all");

	if (!e)
		return nothing(m);
	e->fold.init = constant(m, cel_bool(all));
	go_on = accumulator(m);
	if (!all)
		go_on = CALL(m, "!_", go_on);
	e->fold.condition = CALL(m, "@not_strictly_false", go_on);
	e->fold.step = CALL(m, all ? "_&&_" : "_||_", accumulator(m), test);
	return e;
}

static struct cel_expr *expand_exists_one(struct expansion *m)
{
	struct cel_expr *e = fold(m, m->n - 1,
				  "argument must be a simple name"),
			*test = m->args[m->n - 1], *more;

	if (!e)
		return nothing(m);
	e->fold.init = constant(m, cel_int(0));
	more = CALL(m, "_+_", accumulator(m), constant(m, cel_int(1)));
	e->fold.step = CALL(m, "_?_:_", test, more, accumulator(m));
	e->fold.result =
		CALL(m, "_==_", accumulator(m), constant(m, cel_int(1)));
	return e;
}

/* Takes the step only where the filter, an argument before the last, is true,
 * if there is one. */
static void fold_step(struct expansion *m, struct cel_expr *e, unsigned nvars,
		      struct cel_expr *step)
{
	if (m->n == nvars + 2)
		step = CALL(m, "_?_:_", m->args[nvars], step, accumulator(m));
	e->fold.step = step;
}

static struct cel_expr *to_list(struct expansion *m, unsigned nvars,
				const char *issue)
{
	struct cel_expr *e = fold(m, nvars, issue);

	if (!e)
		return nothing(m);
	e->fold.init = list(m, NULL);
	fold_step(m, e, nvars,
		  CALL(m, "_+_", accumulator(m), list(m, m->args[m->n - 1])));
	return e;
}

static struct cel_expr *expand_map(struct expansion *m)
{
	return to_list(m, 1, "argument is not an identifier");
}

static struct cel_expr *expand_transform_list(struct expansion *m)
{
	return to_list(m, 2, "argument must be a simple name");
}

static struct cel_expr *expand_filter(struct expansion *m)
{
	struct cel_expr *e = fold(m, 1, "argument is not an identifier"), *step;

	if (!e)
		return nothing(m);
	e->fold.init = list(m, NULL);
	step = CALL(m, "_+_", accumulator(m), list(m, m->args[0]));
	e->fold.step = CALL(m, "_?_:_", m->args[1], step, accumulator(m));
	return e;
}

static struct cel_expr *expand_transform_map(struct expansion *m)
{
	struct cel_expr *e = fold(m, 2, "argument must be a simple name");
	struct cel_expr *value = m->args[m->n - 1], *step;

	if (!e)
		return nothing(m);
	e->fold.init = cel_expr_new(m->p, EXPR_MAP, m->place);
	if (text_eq(m->macro, "transformMapEntry"))
		step = CALL(m, "cel.@mapInsert", accumulator(m), value);
	else
		step = CALL(m, "cel.@mapInsert", accumulator(m),
			    ident(m, e->fold.var), value);
	fold_step(m, e, 2, step);
	return e;
}

/* --- bindings: folds over nothing ---------------------------------------- */

/* body, in which name is value. */
static struct cel_expr *bind(struct expansion *m, const char *name,
			     struct cel_expr *value, struct cel_expr *body)
{
	struct cel_expr *e = cel_expr_new(m->p, EXPR_FOLD, m->place);

	e->fold.range = list(m, NULL);
	e->fold.var = "#unused";
	e->fold.accumulator = name;
	e->fold.init = value;
	e->fold.condition = constant(m, cel_bool(false));
	e->fold.step = ident(m, name);
	e->fold.result = body;
	e->fold.macro = m->macro;
	return e;
}

static struct cel_expr *expand_opt_map(struct expansion *m)
{
	struct cel_expr *name = m->args[0], *value, *body;
	bool flat = text_eq(m->macro, "optFlatMap");

	if (name->kind != EXPR_IDENT)
		return refuse(m, name,
			      flat ? "optFlatMap() variable name must be a "
				     "simple identifier"
				   : "optMap() variable name must be a simple "
				     "identifier");
	value = member(m, cel_expr_copy(m->p, m->target), "value");
	body = bind(m, name->ident.name, value, m->args[1]);
	if (!flat)
		body = CALL(m, "optional.of", body);
	return CALL(
		m, "_?_:_", member(m, m->target, "hasValue"), body,
		cel_call_new(m->p, m->place, "optional.none", NULL, NULL, 0));
}

static struct cel_expr *expand_sort_by(struct expansion *m)
{
	static const char input[] = "@__sortBy_input__";
	struct cel_expr *target = m->target, *keys;
	struct expansion map = *m;

	if (target->kind == EXPR_CONST || target->kind == EXPR_MAP)
		return refuse(m, target,
			      "sortBy can only be applied to a list, "
			      "identifier, comprehension, call or select "
			      "expression");
	map.target = ident(m, input);
	keys = expand_map(&map);
	return bind(m, input, target,
		    cel_call_new(m->p, m->place, "@sortByAssociatedKeys",
				 ident(m, input), &keys, 1));
}

static struct cel_expr *expand_has(struct expansion *m)
{
	struct cel_expr *arg = m->args[0], *e;

	if (arg->kind != EXPR_SELECT)
		return refuse(m, arg, "invalid argument to has() macro");
	e = cel_expr_new(m->p, EXPR_SELECT, m->place);
	e->at = arg->at;
	e->select = arg->select;
	e->select.test = true;
	return e;
}

/* --- the table ----------------------------------------------------------- */

static const struct macro {
	const char *name;
	unsigned min, max; /* arguments beside the target */
	struct cel_expr *(*expand)(struct expansion *m);
} macros[] = {
	{"all", 2, 3, expand_quantifier},
	{"exists", 2, 3, expand_quantifier},
	{"exists_one", 2, 3, expand_exists_one},
	{"existsOne", 3, 3, expand_exists_one},
	{"map", 2, 3, expand_map},
	{"filter", 2, 2, expand_filter},
	{"transformList", 3, 4, expand_transform_list},
	{"transformMap", 3, 4, expand_transform_map},
	{"transformMapEntry", 3, 4, expand_transform_map},
	{"optMap", 2, 2, expand_opt_map},
	{"optFlatMap", 2, 2, expand_opt_map},
	{"sortBy", 2, 2, expand_sort_by},
};

static const struct macro *macro_of(const struct cel_expr *call)
{
	static const struct macro has = {"has", 1, 1, expand_has};
	const char *name = call->call.function;
	unsigned n = call->call.n;

	if (!call->call.target)
		return n == 1 && text_eq(name, has.name) ? &has : NULL;
	for (size_t i = 0; i < sizeof(macros) / sizeof(*macros); i++)
		if (n >= macros[i].min && n <= macros[i].max &&
		    text_eq(name, macros[i].name))
			return &macros[i];
	return NULL;
}

struct cel_expr *cel_expand(struct cel_parser *p, struct cel_expr *call)
{
	const struct macro *macro = macro_of(call);
	struct expansion m = {p,
			      {call->start, call->end, call->at},
			      call->call.function,
			      call->call.target,
			      call->call.args,
			      call->call.n};

	return macro && !p->stopped ? macro->expand(&m) : call;
}
