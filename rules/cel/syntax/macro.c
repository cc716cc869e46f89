/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Macros, expanded as cel-go expands them: parser/macro.go,
 * ext/comprehensions.go (two variables), cel/library.go (optionals),
 * ext/lists.go (sortBy). Contains only the macros that Kubernetes 1.37 enables
 * (apiserver pkg/cel/environment/base.go). Expansions are written in CEL, with
 * names that cannot occur in a user's text (struct cel_template).
 */
#include "base/array.h"
#include "base/text.h"
#include "rules/cel/syntax/parser.h"

/* A macro that expands to a fold over its target. */
struct fold_macro {
	const char *name;
	unsigned min, max; /* number of arguments */
	/* number of arguments that are variables (0: all except the last) */
	unsigned variables;
	bool identifier; /* issues call a variable an identifier, not a name */
	/* Templates in CEL. `@result` is the accumulator, `@item` the first
	 * variable, `@last` the last argument. */
	const char *init, *condition, *step, *result;
};

#define ALL	"@not_strictly_false(@result)", "@result && @last", "@result"
#define ANY	"@not_strictly_false(!@result)", "@result || @last", "@result"
#define ONE	"true", "@last ? @result + 1 : @result", "@result == 1"
#define ADD	"true", "@result + [@last]", "@result"
#define SIFT	"true", "@last ? @result + [@item] : @result", "@result"
#define PUT	"true", "cel.@mapInsert(@result, @item, @last)", "@result"
#define PUT_ALL "true", "cel.@mapInsert(@result, @last)", "@result"

static const struct fold_macro folds[] = {
	{"all", 2, 3, 0, false, "true", ALL},
	{"exists", 2, 3, 0, false, "false", ANY},
	{"exists_one", 2, 3, 0, false, "0", ONE},
	{"existsOne", 3, 3, 0, false, "0", ONE},
	{"map", 2, 3, 1, true, "[]", ADD},
	{"filter", 2, 2, 1, true, "[]", SIFT},
	{"transformList", 3, 4, 2, false, "[]", ADD},
	{"transformMap", 3, 4, 2, false, "{}", PUT},
	{"transformMapEntry", 3, 4, 2, false, "{}", PUT_ALL},
};

static const struct fold_macro *fold_of(const char *name, unsigned n)
{
	for (size_t i = 0; i < ARRAY_SIZE(folds); i++)
		if (n >= folds[i].min && n <= folds[i].max &&
		    text_eq(name, folds[i].name))
			return &folds[i];
	return NULL;
}

struct expansion {
	struct cel_parser *p;
	const struct fold_macro *row;
	struct cel_place place;
	const char *name;
	struct cel_expr *target, **args;
	unsigned n;
	struct cel_expr *part; /* expression for `@part` in a template */
};

/* --- templates ----------------------------------------------------------- */

static struct cel_expr *expand_name(struct cel_parser *p, void *context,
				    const char *name)
{
	struct expansion *m = context;

	if (text_eq(name, "@last"))
		return m->args[m->n - 1];
	if (text_eq(name, "@filter"))
		return m->args[m->n - 2];
	if (text_eq(name, "@item"))
		return cel_expr_copy(p, m->args[0]);
	if (text_eq(name, "@target"))
		return m->target;
	if (text_eq(name, "@copy"))
		return cel_expr_copy(p, m->target);
	return text_eq(name, "@part") ? m->part : NULL;
}

static struct cel_expr *from(struct expansion *m, const char *text)
{
	struct cel_template template = {expand_name, m, m->place};

	return cel_parse_template(m->p, text, &template);
}

static struct cel_expr *reject_macro(struct expansion *m,
				     struct cel_expr *where, const char *why)
{
	struct cel_place place = {where->start, where->end, where->start};

	cel_parser_issue(m->p, place, "%s", why);
	return where;
}

/* --- folds --------------------------------------------------------------- */

/* Returns the name of a variable; NULL after reporting an issue. */
static const char *variable(struct expansion *m, unsigned i)
{
	struct cel_expr *arg = m->args[i];

	if (arg->kind != EXPR_IDENT) {
		reject_macro(m, arg,
			     m->row->identifier
				     ? "argument is not an identifier"
				     : "argument must be a simple name");
		return NULL;
	}
	if (text_eq(arg->ident.name, "__result__")) {
		reject_macro(
			m, arg,
			"iteration variable overwrites accumulator variable");
		return NULL;
	}
	/* A variable with a leading dot is declared, but no name refers to
	 * it. */
	return arg->ident.absolute
		       ? arena_printf(m->p->arena, ".%s", arg->ident.name)
		       : arg->ident.name;
}

static struct cel_expr *fold_new(struct expansion *m, struct cel_expr *range,
				 const char *accumulator)
{
	struct cel_expr *e = cel_expr_new(m->p, EXPR_FOLD, m->place);

	e->parts = ARENA_ARRAY(m->p->arena, struct cel_expr *, NFOLD_PARTS);
	e->n = NFOLD_PARTS;
	e->parts[FOLD_RANGE] = range;
	e->fold.accumulator = accumulator;
	e->fold.macro = m->name;
	return e;
}

static struct cel_expr *expand_fold(struct expansion *m)
{
	const struct fold_macro *row = m->row;
	unsigned nvars = row->variables ? row->variables : m->n - 1;
	const char *var = variable(m, 0), *var2 = NULL, *step = row->step;
	struct cel_expr *e;

	if (var && nvars == 2)
		var2 = variable(m, 1);
	if (!var || (nvars == 2 && !var2))
		return m->args[0];
	if (var2 && text_eq(var, var2))
		return reject_macro(m, m->args[1],
				    arena_printf(m->p->arena,
						 "duplicate variable name: %s",
						 var));
	e = fold_new(m, m->target, CEL_ACCUMULATOR);
	e->fold.var = var;
	e->fold.var2 = var2;
	if (m->n == nvars + 2)
		step = arena_printf(m->p->arena, "@filter ? %s : @result",
				    step);
	e->parts[FOLD_INIT] = from(m, row->init);
	e->parts[FOLD_CONDITION] = from(m, row->condition);
	e->parts[FOLD_STEP] = from(m, step);
	e->parts[FOLD_RESULT] = from(m, row->result);
	return e;
}

/* --- other macros --------------------------------------------------------- */

/* Returns the body with a name bound to a value: a fold over an empty list. */
static struct cel_expr *bind(struct expansion *m, const char *name,
			     struct cel_expr *value, struct cel_expr *body)
{
	struct cel_expr *e = fold_new(m, from(m, "[]"), name);

	e->fold.var = "#unused";
	e->parts[FOLD_INIT] = value;
	e->parts[FOLD_CONDITION] = from(m, "false");
	e->parts[FOLD_STEP] = from(m, name);
	e->parts[FOLD_RESULT] = body;
	return e;
}

static struct cel_expr *expand_opt_map(struct expansion *m)
{
	struct cel_expr *name = m->args[0];

	if (name->kind != EXPR_IDENT || name->ident.absolute)
		return reject_macro(m, name,
				    arena_printf(m->p->arena,
						 "%s() variable name must be a "
						 "simple identifier",
						 m->name));
	m->part =
		bind(m, name->ident.name, from(m, "@copy.value()"), m->args[1]);
	return from(m, text_eq(m->name, "optMap")
			       ? "@target.hasValue() ? optional.of(@part) : "
				 "optional.none()"
			       : "@target.hasValue() ? @part : "
				 "optional.none()");
}

static struct cel_expr *expand_sort_by(struct expansion *m)
{
	static const char input[] = "@__sortBy_input__";
	struct cel_expr *list = m->target;

	if (list->kind == EXPR_CONST || list->kind == EXPR_MAP)
		return reject_macro(m, list,
				    "sortBy can only be applied to a list, "
				    "identifier, comprehension, call or select "
				    "expression");
	m->target = from(m, input);
	m->row = fold_of("map", 2);
	m->part = expand_fold(m);
	return bind(m, input, list,
		    from(m, "@__sortBy_input__.@sortByAssociatedKeys(@part)"));
}

static struct cel_expr *expand_has(struct expansion *m)
{
	struct cel_expr *arg = m->args[0], *e;

	if (arg->kind != EXPR_SELECT)
		return reject_macro(m, arg, "invalid argument to has() macro");
	e = cel_expr_new(m->p, EXPR_SELECT, m->place);
	e->at = arg->at;
	e->parts = arg->parts;
	e->n = arg->n;
	e->select = arg->select;
	e->select.test = true;
	return e;
}

struct cel_expr *cel_expand(struct cel_parser *p, struct cel_expr *call)
{
	struct expansion m = {.p = p,
			      .place = {call->start, call->end, call->at},
			      .name = call->call.function,
			      .args = call->parts,
			      .n = call->n};

	if (p->stopped)
		return call;
	if (call->call.member) {
		m.target = *m.args++;
		m.n--;
	}
	if (!m.target)
		return m.n == 1 && text_eq(m.name, "has") ? expand_has(&m)
							  : call;
	if (m.n == 2 &&
	    (text_eq(m.name, "optMap") || text_eq(m.name, "optFlatMap")))
		return expand_opt_map(&m);
	if (m.n == 2 && text_eq(m.name, "sortBy"))
		return expand_sort_by(&m);
	m.row = fold_of(m.name, m.n);
	return m.row ? expand_fold(&m) : call;
}
