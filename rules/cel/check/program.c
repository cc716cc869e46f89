/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles programs: parses and checks a text and prepares it for the
 * evaluator. */
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "check.h"

/*
 * Prepares a checked tree for evaluation: sets operations and the signatures to
 * choose from, and evaluates constants. Like cel-go when it plans a program
 * (interpreter/decorators.go, decOptimize), it evaluates lists and maps of
 * constants, conversions of constants, and `in` over constants beforehand, so
 * that they cost nothing at run time.
 */

static const struct {
	const char *name;
	enum cel_operation operation;
} operations[] = {
	{"_&&_", OPERATION_AND},
	{"_||_", OPERATION_OR},
	{"_?_:_", OPERATION_CHOICE},
	{"_[_]", OPERATION_INDEX},
	{"_[?_]", OPERATION_OPTIONAL_INDEX},
	{"_?._", OPERATION_OPTIONAL_INDEX},
	{"_==_", OPERATION_EQUAL},
	{"_!=_", OPERATION_UNEQUAL},
	{"@not_strictly_false", OPERATION_NOT_STRICTLY_FALSE},
	{"or", OPERATION_OR_OPTIONAL},
	{"orValue", OPERATION_OR_VALUE},
	{"_+_", OPERATION_ADD},
	{"cel.@mapInsert", OPERATION_INSERT},
};

/* True for a type conversion, as cel-go common/overloads,
 * IsTypeConversionFunction() decides. */
static bool is_conversion(const char *name)
{
	return text_lists("bool bytes double dyn duration int string timestamp "
			  "type uint",
			  name);
}

/* True if the cost depends on the overload and not only on the name. */
static bool priced_by_overload(const char *name)
{
	return *name == '_' || *name == '@' || text_eq(name, "string") ||
	       text_eq(name, "bytes") || text_eq(name, "sort");
}

/* True if cel-go implements all overloads in one function, which checks only
 * the values. */
static bool is_single_function(const char *name)
{
	return *name == '_' || *name == '@' || *name == '-' || *name == '!' ||
	       text_eq(name, "size");
}

static bool is_left(const struct cel_expr *e, const struct cel_overload *o)
{
	for (size_t i = 0; e->call.overloads && e->call.overloads[i]; i++) {
		if (e->call.overloads[i] == o)
			return true;
	}
	return false;
}

static void set_signatures(struct arena *arena, struct cel_expr *e)
{
	const char *name = e->call.function;
	bool single = is_single_function(name);
	size_t n = 0, nall = 0, nleft = 0;
	const struct cel_signature *all = cel_env_overloads(name, &nall);

	e->call.signatures =
		ARENA_ARRAY(arena, const struct cel_signature *, nall + 1);
	for (size_t i = 0; i < nall; i++) {
		bool left = is_left(e, all[i].overload);

		nleft += left;
		if (left || (single && all[i].n == e->n &&
			     all[i].member == e->call.member))
			e->call.signatures[n++] = &all[i];
	}
	e->call.looks = nall ? all[0].looks : 0;
	e->call.flat = nleft > 1 && priced_by_overload(name);
	if (single && nleft == 1)
		e->call.price = e->call.overloads[0];
}

static void set_operation(struct cel_expr *e)
{
	size_t n = ARRAY_SIZE(operations);

	for (size_t i = 0; i < n; i++) {
		if (text_eq(e->call.function, operations[i].name))
			e->call.operation = operations[i].operation;
	}
}

static void become(struct cel_expr *e, struct cel_value value)
{
	e->kind = EXPR_CONST;
	e->n = 0;
	e->constant = value;
}

static bool is_constant(const struct cel_expr *e)
{
	return e->kind == EXPR_CONST;
}

/* Converts a constant. If the conversion fails, it is left for the run time. */
static void convert_constant(struct arena *arena, struct cel_expr *e)
{
	struct cel_call call = {.arena = arena, .n = 1};
	struct cel_value result;

	if (e->n != 1 || !is_constant(e->parts[0]) || !e->call.signatures[0] ||
	    e->call.signatures[1] || !is_conversion(e->call.function))
		return;
	call.args = &e->parts[0]->constant;
	call.overload = e->call.signatures[0]->overload;
	if (!call.overload->call)
		return;
	result = call.overload->call(&call);
	if (!cel_is_abnormal(result))
		become(e, result);
}

static bool is_primitive(struct cel_value v)
{
	return v.kind >= CEL_BOOL && v.kind <= CEL_STRING;
}

static void fold_in(struct cel_expr *e)
{
	struct cel_value list;

	if (!text_eq(e->call.function, "@in") || e->n != 2 ||
	    !is_constant(e->parts[1]) || e->call.flat)
		return;
	list = e->parts[1]->constant;
	if (list.kind != CEL_LIST)
		return;
	if (!list.list->n) {
		become(e, cel_bool(false));
		return;
	}
	for (size_t i = 0; i < list.list->n; i++) {
		if (!is_primitive(list.list->values[i]))
			return;
	}
	e->call.operation = OPERATION_IN_CONSTANTS;
}

static void prepare_call(struct arena *arena, struct cel_expr *e)
{
	set_signatures(arena, e);
	set_operation(e);
	convert_constant(arena, e);
	if (e->kind == EXPR_CALL)
		fold_in(e);
}

static void prepare_list(struct arena *arena, struct cel_expr *e)
{
	struct cel_value *items = ARENA_ARRAY(arena, struct cel_value, e->n);

	for (unsigned i = 0; i < e->n; i++)
		items[i] = e->parts[i]->constant;
	become(e, cel_list(arena, items, e->n));
}

static void prepare_map(struct arena *arena, struct cel_expr *e)
{
	struct cel_map_builder map = {0};

	for (unsigned i = 0; i < e->n; i += 2)
		cel_map_put(arena, &map,
			    (struct cel_entry){e->parts[i]->constant,
					       e->parts[i + 1]->constant},
			    true);
	become(e, cel_map_built(arena, &map));
}

/* Prepares a checked expression for the evaluator, and evaluates its constant
 * parts. */
static void cel_prepare(struct arena *arena, struct cel_expr *e)
{
	bool constant = true;

	for (unsigned i = 0; i < e->n; i++) {
		cel_prepare(arena, e->parts[i]);
		constant &= is_constant(e->parts[i]);
	}
	if (e->kind == EXPR_CALL)
		prepare_call(arena, e);
	else if (e->kind == EXPR_IDENT && e->ident.is == NAME_TYPE)
		become(e, (struct cel_value){.kind = CEL_TYPE,
					     .type = e->ident.named});
	else if (e->kind == EXPR_LIST && constant && !e->optional)
		prepare_list(arena, e);
	else if (e->kind == EXPR_MAP && constant && !e->optional)
		prepare_map(arena, e);
}

const struct cel_program *cel_compile(struct arena *arena,
				      const struct cel_env *env,
				      const char *text, size_t len,
				      struct cel_issues *issues)
{
	struct cel_program *program = ARENA_NEW(arena, struct cel_program);

	program->env = env;
	program->text = arena_strndup(arena, text, len);
	program->len = len;
	program->root =
		cel_parse(arena, program->text, len, &program->nexprs, issues);
	if (!program->root || cel_check(arena, program, issues) != 0)
		return NULL;
	cel_prepare(arena, program->root);
	return program;
}

const struct cel_type *cel_program_type(const struct cel_program *program)
{
	return program->root->type;
}

struct variable_reads {
	int variable; /* -1: the name is unknown */
	bool found;
	/* For each byte of the text, the length of the read of the variable
	 * that begins there, or 0. NULL if it is not needed. */
	uint32_t *lengths;
};

static void look(struct cel_expr *expr, void *context)
{
	struct variable_reads *reads = context;

	if (expr->kind != EXPR_IDENT || expr->ident.is != NAME_VARIABLE ||
	    (int)expr->ident.index != reads->variable)
		return;
	reads->found = true;
	if (reads->lengths)
		reads->lengths[expr->start] = expr->end - expr->start;
}

bool cel_program_reads(const struct cel_program *program, const char *name)
{
	struct variable_reads reads = {
		.variable = cel_env_variable(program->env, name)};

	cel_expr_each(program->root, look, &reads);
	return reads.found;
}

const char *cel_program_renamed(struct arena *arena,
				const struct cel_program *program,
				const char *name, const char *to)
{
	struct variable_reads reads = {
		.variable = cel_env_variable(program->env, name),
		.lengths = ARENA_ARRAY(arena, uint32_t, program->len + 1)};
	char *text = arena_alloc(arena, program->len * (strlen(to) + 1) + 1);
	size_t n = 0;

	cel_expr_each(program->root, look, &reads);
	for (size_t i = 0; i < program->len;) {
		uint32_t read = reads.lengths[i];

		if (read) {
			memcpy(text + n, to, strlen(to));
			n += strlen(to);
		} else {
			text[n++] = program->text[i];
		}
		i += read ? read : 1;
	}
	text[n] = '\0';
	return text;
}
