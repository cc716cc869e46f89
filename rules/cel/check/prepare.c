/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prepares a checked tree for evaluation: sets operations and the signatures to
 * choose from, and evaluates constants. Like cel-go when it plans a program
 * (interpreter/decorators.go, decOptimize), it evaluates lists and maps of
 * constants, conversions of constants, and `in` over constants beforehand, so
 * that they cost nothing at run time.
 */
#include "base/array.h"
#include "base/text.h"
#include "rules/cel/check/check.h"

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

void cel_prepare(struct arena *arena, struct cel_expr *e)
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
