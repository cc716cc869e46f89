/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators on numbers, texts and lists (cel-go common/stdlib, overflow.go).
 * Operators on times are in time/. Rows without a function are implemented by
 * the evaluator.
 */
#include <string.h>

#include "cel/cel.h"
#include "rules/cel/lib/lib_internal.h"

static struct cel_value integer_overflow(struct cel_call *call)
{
	return cel_error(call->arena, "integer overflow");
}

static struct cel_value unsigned_overflow(struct cel_call *call)
{
	return cel_error(call->arena, "unsigned integer overflow");
}

/* --- numbers ------------------------------------------------------------- */

#define ARITHMETIC(name, operator, builtin)                                    \
	static struct cel_value name##_int(struct cel_call *call)              \
	{                                                                      \
		int64_t out;                                                   \
                                                                               \
		if (builtin(call->args[0].integer, call->args[1].integer,      \
			    &out))                                             \
			return integer_overflow(call);                         \
		return cel_int(out);                                           \
	}                                                                      \
                                                                               \
	static struct cel_value name##_uint(struct cel_call *call)             \
	{                                                                      \
		uint64_t out;                                                  \
                                                                               \
		if (builtin(call->args[0].uinteger, call->args[1].uinteger,    \
			    &out))                                             \
			return unsigned_overflow(call);                        \
		return cel_uint(out);                                          \
	}                                                                      \
                                                                               \
	static struct cel_value name##_double(struct cel_call *call)           \
	{                                                                      \
		return cel_double(                                             \
			call->args[0].real operator call->args[1].real);       \
	}

ARITHMETIC(add, +, __builtin_add_overflow)
ARITHMETIC(subtract, -, __builtin_sub_overflow)
ARITHMETIC(multiply, *, __builtin_mul_overflow)

#define DIVISION(name, operator, what)                                         \
	static struct cel_value name##_int(struct cel_call *call)              \
	{                                                                      \
		int64_t a = call->args[0].integer, b = call->args[1].integer;  \
                                                                               \
		if (!b)                                                        \
			return cel_error(call->arena, what " by zero");        \
		return a == INT64_MIN && b == -1 ? integer_overflow(call)      \
						 : cel_int(a operator b);      \
	}                                                                      \
                                                                               \
	static struct cel_value name##_uint(struct cel_call *call)             \
	{                                                                      \
		uint64_t a = call->args[0].uinteger,                           \
			 b = call->args[1].uinteger;                           \
                                                                               \
		if (!b)                                                        \
			return cel_error(call->arena, what " by zero");        \
		return cel_uint(a operator b);                                 \
	}

DIVISION(divide, /, "division")
DIVISION(modulo, %, "modulus")

static struct cel_value negate_int(struct cel_call *call)
{
	int64_t i = call->args[0].integer;

	return i == INT64_MIN ? integer_overflow(call) : cel_int(-i);
}

static struct cel_value divide_double(struct cel_call *call)
{
	return cel_double(call->args[0].real / call->args[1].real);
}

static struct cel_value negate_double(struct cel_call *call)
{
	return cel_double(-call->args[0].real);
}

static struct cel_value negation(struct cel_call *call)
{
	return cel_bool(!call->args[0].boolean);
}

/* --- texts, lists -------------------------------------------------------- */

static struct cel_value add_texts(struct cel_call *call)
{
	struct cel_text a = call->args[0].text, b = call->args[1].text;
	char *text;

	if (a.len + b.len > CEL_TEXT_MAX)
		return cel_error(call->arena, "the text is too long");
	text = arena_take(call->arena, a.len + b.len + 1, 1);
	memcpy(text, a.data, a.len);
	memcpy(text + a.len, b.data, b.len);
	text[a.len + b.len] = '\0';
	return (struct cel_value){.kind = call->args[0].kind,
				  .text = {text, a.len + b.len}};
}

static struct cel_value add_lists(struct cel_call *call)
{
	return cel_list_add(call->arena, call->args[0], call->args[1]);
}

/* Returns false for an absent item, or unknown in a fragment, where it may
 * exist. */
static struct cel_value absent(struct cel_call *call, const struct node *node)
{
	return node && call->eval->options.fragment ? cel_unknown(NULL)
						    : cel_bool(false);
}

static struct cel_value in_list(struct cel_call *call)
{
	struct cel_value result = absent(call, call->args[1].list->node);
	size_t n = cel_size(call->args[1]);

	for (size_t i = 0; i < n; i++) {
		struct cel_value equal =
			cel_equal(call->arena, call->args[0],
				  cel_list_at(call->arena, call->args[1], i));

		if (cel_is_true(equal))
			return equal;
		if (cel_is(equal, CEL_UNKNOWN))
			result = equal;
	}
	return result;
}

static struct cel_value in_map(struct cel_call *call)
{
	struct cel_value map = call->args[1], value;

	if (cel_map_find(call->arena, map, call->args[0], &value))
		return map.map->node && cel_is(value, CEL_UNKNOWN) &&
				       !value.node
			       ? value
			       : cel_bool(true);
	return absent(call, map.map->node);
}

static struct cel_value size(struct cel_call *call)
{
	return cel_int((int64_t)cel_cost_size(call->args[0]));
}

/* --- order --------------------------------------------------------------- */

/* Implements `<`, `<=`, `>` and `>=`. */
static struct cel_value order(struct cel_call *call)
{
	const char *name = call->overload->name;
	int order;

	if (!cel_compare(call->args[0], call->args[1], &order))
		return cel_error(call->arena, "NaN values cannot be ordered");
	return cel_bool(order ? (order < 0) == (name[1] == '<')
			      : name[2] == '=');
}

/* --- costs --------------------------------------------------------------- */

static uint64_t cost_of_list(const struct cel_call *call,
			     struct cel_value result)
{
	return cel_cost_size(call->args[1]);
}

#define ORDERED(name)                                                          \
	{name, "(bool, bool) bool", order, NULL},                              \
		{name, "(int, int) bool", order, NULL},                        \
		{name, "(int, double) bool", order, NULL},                     \
		{name, "(int, uint) bool", order, NULL},                       \
		{name, "(uint, uint) bool", order, NULL},                      \
		{name, "(uint, double) bool", order, NULL},                    \
		{name, "(uint, int) bool", order, NULL},                       \
		{name, "(double, double) bool", order, NULL},                  \
		{name, "(double, int) bool", order, NULL},                     \
		{name, "(double, uint) bool", order, NULL},                    \
		{name, "(string, string) bool", order, cel_cost_shorter},      \
		{name, "(bytes, bytes) bool", order, cel_cost_shorter},        \
		{name, "(timestamp, timestamp) bool", order, NULL},            \
	{                                                                      \
		name, "(duration, duration) bool", order, NULL                 \
	}

const struct cel_overload cel_operators_library[] = {
	{"_&&_", "(bool, bool) bool", NULL, NULL},
	{"_||_", "(bool, bool) bool", NULL, NULL},
	{"_?_:_", "(bool, A, A) A", NULL, NULL},
	{"@not_strictly_false", "(bool) bool", NULL, NULL},
	{"!_", "(bool) bool", negation, NULL},
	{"_==_", "(A, A) bool", NULL, NULL},
	{"_!=_", "(A, A) bool", NULL, NULL},
	{"_+_", "(bytes, bytes) bytes", add_texts, cel_cost_traverse_both},
	{"_+_", "(double, double) double", add_double, NULL},
	{"_+_", "(int, int) int", add_int, NULL},
	{"_+_", "(list(A), list(A)) list(A)", add_lists, NULL},
	{"_+_", "(string, string) string", add_texts, cel_cost_traverse_both},
	{"_+_", "(uint, uint) uint", add_uint, NULL},
	{"_-_", "(double, double) double", subtract_double, NULL},
	{"_-_", "(int, int) int", subtract_int, NULL},
	{"_-_", "(uint, uint) uint", subtract_uint, NULL},
	{"_*_", "(double, double) double", multiply_double, NULL},
	{"_*_", "(int, int) int", multiply_int, NULL},
	{"_*_", "(uint, uint) uint", multiply_uint, NULL},
	{"_/_", "(double, double) double", divide_double, NULL},
	{"_/_", "(int, int) int", divide_int, NULL},
	{"_/_", "(uint, uint) uint", divide_uint, NULL},
	{"_%_", "(int, int) int", modulo_int, NULL},
	{"_%_", "(uint, uint) uint", modulo_uint, NULL},
	{"-_", "(double) double", negate_double, NULL},
	{"-_", "(int) int", negate_int, NULL},
	ORDERED("_<_"),
	ORDERED("_<=_"),
	ORDERED("_>_"),
	ORDERED("_>=_"),
	{"_[_]", "(list(A), int) A", NULL, NULL},
	{"_[_]", "(map(A, B), A) B", NULL, NULL},
	{"_[_]", "(optional(list(A)), int) optional(A)", NULL, NULL},
	{"_[_]", "(optional(map(A, B)), A) optional(B)", NULL, NULL},
	{"_[?_]", "(list(A), int) optional(A)", NULL, NULL},
	{"_[?_]", "(optional(list(A)), int) optional(A)", NULL, NULL},
	{"_[?_]", "(map(A, B), A) optional(B)", NULL, NULL},
	{"_[?_]", "(optional(map(A, B)), A) optional(B)", NULL, NULL},
	{"_?._", "(dyn, string) optional(A)", NULL, NULL},
	{"@in", "(A, list(A)) bool", in_list, cost_of_list},
	{"@in", "(A, map(A, B)) bool", in_map, NULL},
	{"size", "(bytes) int", size, NULL},
	{"size", "bytes.() int", size, NULL},
	{"size", "(list(A)) int", size, NULL},
	{"size", "list(A).() int", size, NULL},
	{"size", "(map(A, B)) int", size, NULL},
	{"size", "map(A, B).() int", size, NULL},
	{"size", "(string) int", size, NULL},
	{"size", "string.() int", size, NULL},
	{"cel.@mapInsert", "(map(A, B), A, B) map(A, B)", NULL, NULL},
	{"cel.@mapInsert", "(map(A, B), map(A, B)) map(A, B)", NULL, NULL},
	{0},
};
