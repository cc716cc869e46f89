/* SPDX-License-Identifier: Apache-2.0 */
/* Kubernetes' functions on lists (apiserver pkg/cel/library/lists.go). */
#include "rules/cel/lib/lib_internal.h"

#include "base/text.h"

static struct cel_value is_sorted(struct cel_call *call)
{
	struct cel_value abnormal;
	const struct cel_value *items =
		cel_items(call, call->args[0], &abnormal);
	int order;

	if (!items)
		return abnormal;
	for (size_t i = 0; i < cel_size(call->args[0]); i++) {
		if (!cel_is_ordered(items[i]))
			return cel_no_overload(call);
		if (i && cel_compare(items[i - 1], items[i], &order) &&
		    order > 0)
			return cel_bool(false);
	}
	return cel_bool(true);
}

static struct cel_value zero_of(const char *signature)
{
	if (text_starts(signature, "list(int)"))
		return cel_int(0);
	if (text_starts(signature, "list(uint)"))
		return cel_uint(0);
	if (text_starts(signature, "list(double)"))
		return cel_double(0);
	return cel_duration(0);
}

/* Adds two values of the same kind. */
static struct cel_value add(struct cel_call *call, struct cel_value a,
			    struct cel_value b)
{
	int64_t sum;
	uint64_t usum;

	if (cel_is(a, CEL_DOUBLE))
		return cel_double(a.real + b.real);
	if (cel_is(a, CEL_UINT)) {
		if (!__builtin_add_overflow(a.uinteger, b.uinteger, &usum))
			return cel_uint(usum);
		return cel_error(call->arena, "unsigned integer overflow");
	}
	if (cel_is(a, CEL_DURATION)) {
		if (!__builtin_add_overflow(cel_duration_nanos(a.time),
					    cel_duration_nanos(b.time), &sum))
			return cel_duration(sum);
	} else if (!__builtin_add_overflow(a.integer, b.integer, &sum)) {
		return cel_int(sum);
	}
	return cel_error(call->arena, "integer overflow");
}

static struct cel_value sum(struct cel_call *call)
{
	struct cel_value total = zero_of(call->overload->signature), abnormal;
	const struct cel_value *items =
		cel_items(call, call->args[0], &abnormal);

	if (!items)
		return abnormal;
	for (size_t i = 0; i < cel_size(call->args[0]); i++) {
		if (items[i].kind != total.kind)
			return cel_no_overload(call);
		total = add(call, total, items[i]);
		if (cel_is_abnormal(total))
			break;
	}
	return total;
}

/* Implements min() and max(). Returns the first of equal items. */
static struct cel_value extreme(struct cel_call *call)
{
	int sign = text_eq(call->overload->name, "max") ? 1 : -1, order;
	struct cel_value abnormal, best;
	const struct cel_value *items =
		cel_items(call, call->args[0], &abnormal);
	size_t n = cel_size(call->args[0]);

	if (!items)
		return abnormal;
	if (!n)
		return cel_error(call->arena, "%s called on empty list",
				 call->overload->name);
	best = items[0];
	for (size_t i = 0; i < n; i++) {
		if (!cel_is_ordered(items[i]))
			return cel_no_overload(call);
		if (cel_compare(items[i], best, &order) && order * sign > 0)
			best = items[i];
	}
	return best;
}

static struct cel_value index_of(struct cel_call *call)
{
	bool last = text_eq(call->overload->name, "lastIndexOf");
	struct cel_value list = call->args[0];
	size_t n = cel_size(list);

	for (size_t i = 0; i < n; i++) {
		size_t at = last ? n - 1 - i : i;
		struct cel_value item = cel_list_at(call->arena, list, at);
		struct cel_value equal =
			cel_is_abnormal(item)
				? item
				: cel_equal(call->arena, item, call->args[1]);

		if (cel_is_true(equal))
			return cel_int((int64_t)at);
		if (cel_is_abnormal(equal))
			return equal;
	}
	return cel_int(-1);
}

/* Returns whether a list contains the value. A value that is not a list is
 * compared itself. */
static struct cel_value includes(struct cel_call *call)
{
	struct cel_value target = call->args[0], item = target, equal;
	struct cel_value result = cel_bool(false);
	size_t n = cel_is(target, CEL_LIST) ? cel_size(target) : 1;

	for (size_t i = 0; i < n; i++) {
		if (cel_is(target, CEL_LIST))
			item = cel_list_at(call->arena, target, i);
		equal = cel_equal(call->arena, item, call->args[1]);
		if (cel_is_true(equal))
			return equal;
		if (cel_is(equal, CEL_UNKNOWN))
			result = equal;
	}
	return result;
}

/* Returns the cost of a value, for a list or map the sum of its parts. Strings
 * and bytes cost a tenth of their size, rounded down. Other values cost 1. */
static uint64_t deep_cost(struct arena *arena, struct cel_value value)
{
	uint64_t cost = 0;

	switch (value.kind) {
	case CEL_STRING:
	case CEL_BYTES:
		return (uint64_t)((double)value.text.len * 0.1);
	case CEL_LIST:
		for (size_t i = 0; i < cel_size(value); i++)
			cost += deep_cost(arena, cel_list_at(arena, value, i));
		return cost;
	case CEL_MAP:
		for (size_t i = 0; i < cel_size(value); i++) {
			struct cel_entry entry = cel_map_at(arena, value, i);

			cost += deep_cost(arena, entry.key) +
				deep_cost(arena, entry.value);
		}
		return cost;
	default:
		return 1;
	}
}

static uint64_t cost_of_items(const struct cel_call *call,
			      struct cel_value result)
{
	return deep_cost(call->arena, call->args[0]);
}

#define ORDERED(type)                                                          \
	{"isSorted", "list(" type ").() bool", is_sorted, cost_of_items},      \
		{"min", "list(" type ").() " type, extreme, cost_of_items},    \
	{                                                                      \
		"max", "list(" type ").() " type, extreme, cost_of_items       \
	}

const struct cel_overload cel_aggregates_library[] = {
	ORDERED("int"),
	ORDERED("uint"),
	ORDERED("double"),
	ORDERED("bool"),
	ORDERED("duration"),
	ORDERED("timestamp"),
	ORDERED("string"),
	ORDERED("bytes"),
	{"sum", "list(int).() int", sum, cost_of_items},
	{"sum", "list(uint).() uint", sum, cost_of_items},
	{"sum", "list(double).() double", sum, cost_of_items},
	{"sum", "list(duration).() duration", sum, cost_of_items},
	{"indexOf", "list(A).(A) int", index_of, cost_of_items},
	{"lastIndexOf", "list(A).(A) int", index_of, cost_of_items},
	{"includes", "dyn.(dyn) bool", includes, cost_of_items},
	{0},
};
