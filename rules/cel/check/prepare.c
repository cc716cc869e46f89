/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a checked tree to one that is evaluated: operations, signatures to
 * dispatch over, constants. What cel-go computes when it plans a program
 * (interpreter/decorators.go, decOptimize) costs nothing when it runs: lists
 * and maps of constants, conversions of constants, `in` over constants.
 */
#include "base/text.h"
#include "rules/cel/check/check.h"

struct preparation {
	struct arena *arena;
	const struct cel_program *program;
};

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

/* cel-go common/overloads, IsTypeConversionFunction() */
static bool is_conversion(const char *name)
{
	static const char *const names[] = {
		"bool", "bytes",  "double",    "dyn",  "duration",
		"int",	"string", "timestamp", "type", "uint"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (text_eq(name, names[i]))
			return true;
	}
	return false;
}

/* Is its price that of an overload, not that of the name? */
static bool priced_by_overload(const char *name)
{
	return *name == '_' || *name == '@' || text_eq(name, "string") ||
	       text_eq(name, "bytes") || text_eq(name, "sort");
}

static void set_operands(struct preparation *p, struct cel_expr *e)
{
	unsigned n = 0;

	e->call.operands =
		ARENA_ARRAY(p->arena, struct cel_expr *, e->call.n + 1);
	if (e->call.target)
		e->call.operands[n++] = e->call.target;
	for (unsigned i = 0; i < e->call.n; i++)
		e->call.operands[n++] = e->call.args[i];
	e->call.noperands = n;
}

/* One function for all overloads, which looks at the values only. */
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

static void set_signatures(struct preparation *p, struct cel_expr *e)
{
	const char *name = e->call.function;
	bool single = is_single_function(name);
	size_t n = 0, nall = 0, nleft = 0;
	const struct cel_signature *all =
		cel_env_overloads(p->program->env, name, &nall);

	e->call.signatures =
		ARENA_ARRAY(p->arena, const struct cel_signature *, nall + 1);
	for (size_t i = 0; i < nall; i++) {
		bool left = is_left(e, all[i].overload);

		nleft += left;
		if (left || (single && all[i].n == e->call.noperands &&
			     all[i].member == (e->call.target != NULL)))
			e->call.signatures[n++] = &all[i];
	}
	e->call.flat = nleft > 1 && priced_by_overload(name);
	if (single && nleft == 1)
		e->call.price = e->call.overloads[0];
}

static void set_operation(struct cel_expr *e)
{
	size_t n = sizeof(operations) / sizeof(*operations);

	for (size_t i = 0; i < n; i++) {
		if (text_eq(e->call.function, operations[i].name))
			e->call.operation = operations[i].operation;
	}
}

static void become(struct cel_expr *e, struct cel_value value)
{
	e->kind = EXPR_CONST;
	e->constant = value;
}

static bool is_constant(const struct cel_expr *e)
{
	return e->kind == EXPR_CONST;
}

static void prepare(struct preparation *p, struct cel_expr *e);

static void prepare_all(struct preparation *p, struct cel_expr **items,
			unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		prepare(p, items[i]);
}

/* A conversion of a constant; what fails is left to fail when it runs. */
static void convert_constant(struct preparation *p, struct cel_expr *e)
{
	struct cel_call call = {.arena = p->arena, .n = 1};
	struct cel_value result;

	if (e->call.noperands != 1 || !is_constant(e->call.operands[0]) ||
	    !e->call.signatures[0] || e->call.signatures[1] ||
	    !is_conversion(e->call.function))
		return;
	call.args = &e->call.operands[0]->constant;
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

	if (!text_eq(e->call.function, "@in") || e->call.noperands != 2 ||
	    !is_constant(e->call.operands[1]) || e->call.flat)
		return;
	list = e->call.operands[1]->constant;
	if (list.kind != CEL_LIST)
		return;
	if (!list.list->n) {
		become(e, cel_bool(false));
		return;
	}
	for (size_t i = 0; i < list.list->n; i++) {
		if (!is_primitive(list.list->items[i]))
			return;
	}
	e->call.operation = OPERATION_IN_CONSTANTS;
}

static void prepare_call(struct preparation *p, struct cel_expr *e)
{
	set_operands(p, e);
	set_signatures(p, e);
	set_operation(e);
	prepare_all(p, e->call.operands, e->call.noperands);
	convert_constant(p, e);
	if (e->kind == EXPR_CALL)
		fold_in(e);
}

static void prepare_list(struct preparation *p, struct cel_expr *e)
{
	struct cel_value *items =
		ARENA_ARRAY(p->arena, struct cel_value, e->list.n);
	bool constant = true;

	prepare_all(p, e->list.items, e->list.n);
	for (unsigned i = 0; i < e->list.n; i++) {
		constant &= is_constant(e->list.items[i]) &&
			    !(e->list.optional && e->list.optional[i]);
		if (constant)
			items[i] = e->list.items[i]->constant;
	}
	if (constant)
		become(e, cel_list(p->arena, items, e->list.n));
}

static void prepare_map(struct preparation *p, struct cel_expr *e)
{
	struct cel_map_builder map = {0};
	bool constant = true;

	prepare_all(p, e->map.keys, e->map.n);
	prepare_all(p, e->map.values, e->map.n);
	for (unsigned i = 0; i < e->map.n; i++) {
		constant &= is_constant(e->map.keys[i]) &&
			    is_constant(e->map.values[i]) &&
			    !(e->map.optional && e->map.optional[i]);
		if (constant)
			cel_map_put(
				p->arena, &map,
				(struct cel_entry){e->map.keys[i]->constant,
						   e->map.values[i]->constant},
				true);
	}
	if (constant)
		become(e, cel_map_built(p->arena, &map));
}

static void prepare_fold(struct preparation *p, struct cel_expr *e)
{
	prepare(p, e->fold.range);
	prepare(p, e->fold.init);
	prepare(p, e->fold.condition);
	prepare(p, e->fold.step);
	prepare(p, e->fold.result);
}

static void prepare(struct preparation *p, struct cel_expr *e)
{
	switch (e->kind) {
	case EXPR_CONST:
		break;
	case EXPR_IDENT:
		if (e->ident.is == NAME_TYPE)
			become(e, (struct cel_value){.kind = CEL_TYPE,
						     .type = e->ident.named});
		break;
	case EXPR_SELECT:
		prepare(p, e->select.operand);
		break;
	case EXPR_CALL:
		prepare_call(p, e);
		break;
	case EXPR_LIST:
		prepare_list(p, e);
		break;
	case EXPR_MAP:
		prepare_map(p, e);
		break;
	case EXPR_FOLD:
		prepare_fold(p, e);
		break;
	}
}

void cel_prepare(struct arena *arena, struct cel_program *program)
{
	struct preparation p = {arena, program};

	prepare(&p, program->root);
}
