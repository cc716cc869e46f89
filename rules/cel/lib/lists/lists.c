/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists: version 3 of cel-go's extension (ext/lists.go) and sets (ext/sets.go).
 * An operation with n * n comparisons costs n * n, so a list beyond the budget
 * is rejected before the work.
 */
#include "rules/cel/lib/lib_internal.h"

#include <string.h>

#include "base/array.h"
#include "cel/cel.h"

#define RANGE_MAX 1000000

static struct cel_value over_budget(struct cel_call *call)
{
	return cel_error(call->arena, "actual cost limit exceeded");
}

/* Returns the cost that cel-go adds to a call that creates a list. */
static uint64_t list_cost(uint64_t size)
{
	return size + 1 + 10;
}

static uint64_t size_cost(const struct cel_call *call, struct cel_value result)
{
	return list_cost(cel_cost_size(result));
}

static struct cel_value slice(struct cel_call *call)
{
	struct cel_value list = call->args[0], *items;
	long long start = call->args[1].integer, end = call->args[2].integer;
	long long size = (long long)cel_size(list);

	if (start < 0 || end < 0)
		return cel_error(call->arena,
				 "cannot slice(%lld, %lld), negative indexes "
				 "not supported",
				 start, end);
	if (start > end)
		return cel_error(call->arena,
				 "cannot slice(%lld, %lld), start index must "
				 "be less than or equal to end index",
				 start, end);
	if (size < end)
		return cel_error(call->arena,
				 "cannot slice(%lld, %lld), list is length "
				 "%lld",
				 start, end, size);
	items = ARENA_ARRAY(call->arena, struct cel_value,
			    (size_t)(end - start));
	for (long long i = start; i < end; i++)
		items[i - start] = cel_list_at(call->arena, list, (size_t)i);
	return cel_list(call->arena, items, (size_t)(end - start));
}

struct flat {
	struct cel_value *items;
	size_t n, size;
};

/* Appends the items of list, and depth levels of nested lists flattened.
 * Returns null, or an item that is an error or unknown value and might be a
 * list to flatten. */
static struct cel_value flatten_into(struct arena *arena, struct flat *flat,
				     struct cel_value list, int64_t depth)
{
	for (size_t i = 0; i < cel_size(list); i++) {
		struct cel_value item = cel_list_at(arena, list, i);

		if (depth && cel_is_abnormal(item))
			return item;
		if (depth && cel_is(item, CEL_LIST))
			item = flatten_into(arena, flat, item, depth - 1);
		else
			*VEC_PUSH(arena, flat->items, flat->n, flat->size) =
				item;
		if (depth && cel_is_abnormal(item))
			return item;
	}
	return cel_null();
}

static struct cel_value flatten(struct cel_call *call)
{
	int64_t depth = call->n > 1 ? call->args[1].integer : 1;
	struct flat flat = {0};
	struct cel_value hidden;

	if (depth < 0)
		return cel_error(call->arena, "level must be non-negative");
	hidden = flatten_into(call->arena, &flat, call->args[0], depth);
	if (cel_is_abnormal(hidden))
		return hidden;
	return cel_list(call->arena, flat.items, flat.n);
}

static uint64_t flatten_cost(const struct cel_call *call,
			     struct cel_value result)
{
	double depth = call->n > 1 && cel_is(call->args[1], CEL_INT)
			       ? (double)call->args[1].integer
			       : 1;
	double cost = (double)cel_cost_size(call->args[0]) * depth;

	if (call->n > 1 && !cel_is(call->args[1], CEL_INT))
		return 1;
	if (cost > 1e18)
		return CEL_POLICY_BUDGET;
	return list_cost((uint64_t)(int64_t)cost);
}

static struct cel_value range(struct cel_call *call)
{
	int64_t n = call->args[0].integer;
	struct cel_value *items;

	if (n < 0)
		return cel_error(call->arena,
				 "lists.range: size must be non-negative, got "
				 "%lld",
				 (long long)n);
	if (n > RANGE_MAX)
		return cel_error(call->arena,
				 "lists.range: size %lld exceeds maximum "
				 "allowed (%d)",
				 (long long)n, RANGE_MAX);
	items = ARENA_ARRAY(call->arena, struct cel_value, (size_t)n);
	for (int64_t i = 0; i < n; i++)
		items[i] = cel_int(i);
	return cel_list(call->arena, items, (size_t)n);
}

static struct cel_value reverse(struct cel_call *call)
{
	size_t n = cel_size(call->args[0]);
	struct cel_value *items = ARENA_ARRAY(call->arena, struct cel_value, n);

	for (size_t i = 0; i < n; i++)
		items[n - 1 - i] = cel_list_at(call->arena, call->args[0], i);
	return cel_list(call->arena, items, n);
}

/* Returns the cost of n * n comparisons of a list with itself. */
static uint64_t square_cost(const struct cel_call *call,
			    struct cel_value result)
{
	struct cel_value list = call->args[call->n - 1];
	uint64_t size = cel_cost_size(list);
	double factor = 2;

	if (!cel_is(list, CEL_LIST))
		return 1;
	if (size) {
		struct cel_value item = cel_list_at(call->arena, list, 0);

		if (cel_is(item, CEL_STRING) || cel_is(item, CEL_BYTES))
			factor += 0.1;
	}
	return list_cost((uint64_t)((double)(size * size) * factor));
}

static bool is_too_long(const struct cel_call *call)
{
	return square_cost(call, cel_null()) > CEL_EXPRESSION_BUDGET;
}

/* Returns true, false, or unknown. */
static struct cel_value has(const struct cel_call *call,
			    const struct cel_value *items, size_t n,
			    struct cel_value item)
{
	struct cel_value found = cel_bool(false);

	if (cel_is_abnormal(item))
		return item;
	for (size_t i = 0; i < n; i++) {
		struct cel_value equal =
			cel_is_abnormal(items[i])
				? items[i]
				: cel_equal(call->arena, items[i], item);

		if (cel_is_true(equal))
			return equal;
		if (cel_is_abnormal(equal))
			found = equal;
	}
	return found;
}

static struct cel_value distinct(struct cel_call *call)
{
	size_t n = 0, size = cel_size(call->args[0]);
	struct cel_value *kept;

	if (is_too_long(call))
		return over_budget(call);
	kept = cel_items(call, call->args[0], NULL);
	for (size_t i = 0; i < size; i++) {
		struct cel_value found = has(call, kept, n, kept[i]);

		if (cel_is_abnormal(found))
			return found;
		if (cel_is_false(found))
			kept[n++] = kept[i];
	}
	return cel_list(call->arena, kept, n);
}

/* Returns the reason why keys cannot be sorted, or NULL. A single key is never
 * compared. */
static const char *sort_problem(const struct cel_value *keys, size_t n)
{
	if (n && !cel_is_ordered(keys[0]))
		return "list elements must be comparable";
	for (size_t i = 1; i < n; i++) {
		if (keys[i].kind != keys[0].kind)
			return "list elements must have the same type";
	}
	return NULL;
}

/* Sorts both arrays by the keys. Equal keys keep their order, unlike in Go with
 * more than 12 items. */
static void sort_items(struct cel_value *items, struct cel_value *keys,
		       size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct cel_value item = items[i], key = keys[i];
		size_t at = i;
		int order;

		while (at && cel_compare(key, keys[at - 1], &order) &&
		       order < 0)
			at--;
		memmove(items + at + 1, items + at, (i - at) * sizeof(*items));
		memmove(keys + at + 1, keys + at, (i - at) * sizeof(*keys));
		items[at] = item;
		keys[at] = key;
	}
}

static struct cel_value sort(struct cel_call *call)
{
	struct cel_value list = call->args[0], abnormal;
	struct cel_value by = call->args[call->n - 1];
	size_t n = cel_size(list);
	struct cel_value *items, *keys;
	const char *problem;

	if (is_too_long(call))
		return over_budget(call);
	if (cel_size(by) != n)
		return cel_error(call->arena,
				 "@sortByAssociatedKeys() expected a list of "
				 "the same size as the associated keys list, "
				 "but got %zu and %zu elements respectively",
				 n, cel_size(by));
	keys = cel_items(call, by, &abnormal);
	if (!keys)
		return abnormal;
	problem = sort_problem(keys, n);
	if (problem)
		return cel_error(call->arena, "%s", problem);
	items = cel_items(call, list, NULL);
	sort_items(items, keys, n);
	return cel_list(call->arena, items, n);
}

static uint64_t product(const struct cel_call *call)
{
	return cel_cost_size(call->args[0]) * cel_cost_size(call->args[1]);
}

/* True if all items of b are in a or, with `any`, at least one. */
static struct cel_value are_in(struct cel_call *call, struct cel_value a,
			       struct cel_value b, bool any)
{
	struct cel_value result = cel_bool(!any), *items;

	if (product(call) > CEL_EXPRESSION_BUDGET)
		return over_budget(call);
	items = cel_items(call, a, NULL);
	for (size_t i = 0; i < cel_size(b); i++) {
		struct cel_value found = has(call, items, cel_size(a),
					     cel_list_at(call->arena, b, i));

		if (any ? cel_is_true(found) : cel_is_false(found))
			return found;
		if (cel_is_abnormal(found))
			result = found;
	}
	return result;
}

static struct cel_value sets_contains(struct cel_call *call)
{
	return are_in(call, call->args[0], call->args[1], false);
}

static struct cel_value sets_equivalent(struct cel_call *call)
{
	struct cel_value there = sets_contains(call), back;

	if (cel_is_false(there))
		return there;
	back = are_in(call, call->args[1], call->args[0], false);
	return cel_is_true(back) ? there : back;
}

static struct cel_value sets_intersects(struct cel_call *call)
{
	return are_in(call, call->args[1], call->args[0], true);
}

static uint64_t product_cost(const struct cel_call *call,
			     struct cel_value result)
{
	return 1 + product(call);
}

static uint64_t twice_product_cost(const struct cel_call *call,
				   struct cel_value result)
{
	return 1 + 2 * product(call);
}

#define SORT(type)                                                             \
	{"sort", "list(" type ").() list(" type ")", sort, square_cost},       \
	{                                                                      \
		"@sortByAssociatedKeys", "list(T).(list(" type ")) list(T)",   \
			sort, square_cost                                      \
	}

const struct cel_overload cel_lists_library[] = {
	{"slice", "list(T).(int, int) list(T)", slice, size_cost},
	{"flatten", "list(list(T)).() list(T)", flatten, flatten_cost},
	{"flatten", "list(dyn).(int) list(dyn)", flatten, flatten_cost},
	{"lists.range", "(int) list(int)", range, size_cost},
	{"reverse", "list(T).() list(T)", reverse, size_cost},
	{"distinct", "list(T).() list(T)", distinct, square_cost},
	SORT("int"),
	SORT("uint"),
	SORT("double"),
	SORT("bool"),
	SORT("duration"),
	SORT("timestamp"),
	SORT("string"),
	SORT("bytes"),
	{"sets.contains", "(list(T), list(T)) bool", sets_contains,
	 product_cost},
	{"sets.equivalent", "(list(T), list(T)) bool", sets_equivalent,
	 twice_product_cost},
	{"sets.intersects", "(list(T), list(T)) bool", sets_intersects,
	 product_cost},
	{0},
};
