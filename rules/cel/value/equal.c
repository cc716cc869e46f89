/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implements `==` and the order of values (cel-go common/types, compare.go). An
 * unknown part does not matter if other parts are unequal.
 */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "rules/cel/value/value_internal.h"

static double double_of(struct cel_value number)
{
	return number.kind == CEL_INT	 ? (double)number.integer
	       : number.kind == CEL_UINT ? (double)number.uinteger
					 : number.real;
}

__extension__ static __int128 whole_of(struct cel_value number)
{
	__extension__ __int128 integer = number.integer;

	return number.kind == CEL_INT ? integer : number.uinteger;
}

/* Compares two numbers. If one is a double, the other is rounded to a
 * double. */
static bool compare_numbers(struct cel_value a, struct cel_value b, int *order)
{
	if (a.kind == CEL_DOUBLE || b.kind == CEL_DOUBLE) {
		double x = double_of(a), y = double_of(b);

		*order = (x > y) - (x < y);
		return !isnan(x) && !isnan(y);
	}
	*order = (whole_of(a) > whole_of(b)) - (whole_of(a) < whole_of(b));
	return true;
}

static int order_of_texts(struct cel_text a, struct cel_text b)
{
	size_t len = a.len < b.len ? a.len : b.len;
	int order = len ? memcmp(a.data, b.data, len) : 0;

	if (!order)
		return (a.len > b.len) - (a.len < b.len);
	return order < 0 ? -1 : 1;
}

static int order_of_times(struct cel_time a, struct cel_time b)
{
	if (a.seconds != b.seconds)
		return a.seconds < b.seconds ? -1 : 1;
	return (a.nanos > b.nanos) - (a.nanos < b.nanos);
}

bool cel_compare(struct cel_value a, struct cel_value b, int *order)
{
	if (cel_is_number(a) && cel_is_number(b))
		return compare_numbers(a, b, order);
	if (a.kind != b.kind)
		return false;
	switch (a.kind) {
	case CEL_BOOL:
		*order = a.boolean - b.boolean;
		return true;
	case CEL_STRING:
	case CEL_BYTES:
		*order = order_of_texts(a.text, b.text);
		return true;
	case CEL_TIMESTAMP:
	case CEL_DURATION:
		*order = order_of_times(a.time, b.time);
		return true;
	default:
		return false;
	}
}

/* --- lists and maps ------------------------------------------------------ */

/*
 * Combines `all` with the equality of one more part: false has precedence, then
 * unknown. Returns false if the result is final.
 */
static bool goes_on(struct cel_value *all, struct cel_value part)
{
	if (cel_is_false(part) || cel_is_true(*all))
		*all = part;
	return !cel_is_false(*all);
}

bool cel_same_keys(struct arena *arena, struct cel_value a, struct cel_value b,
		   const struct node *keys)
{
	struct cel_value x, y;

	if (a.kind != CEL_MAP || b.kind != CEL_MAP)
		return false;
	FOR_EACH_CHILD(keys, key) {
		struct cel_value name = cel_stringn(key->str, key->len);
		bool has = cel_map_find(arena, a, name, &x);

		if (has != cel_map_find(arena, b, name, &y) ||
		    (has && cel_is_false(cel_equal(arena, x, y))))
			return false;
	}
	return true;
}

/* Returns whether a list has an equal item. If keys is set, only the item with
 * the same keys is compared. */
static struct cel_value has_equal(struct arena *arena, struct cel_value list,
				  struct cel_value item,
				  const struct node *keys)
{
	struct cel_value found = cel_bool(false);

	for (size_t i = 0; i < cel_size(list); i++) {
		struct cel_value other = cel_list_at(arena, list, i), equal;

		if (keys && !cel_same_keys(arena, other, item, keys))
			continue;
		equal = cel_equal(arena, other, item);
		if (cel_is_true(equal) || keys)
			return equal;
		if (cel_is(equal, CEL_UNKNOWN))
			found = equal;
	}
	return found;
}

static struct cel_value equal_lists(struct arena *arena, struct cel_value a,
				    struct cel_value b)
{
	const struct node *keys;
	bool unordered = cel_schema_unordered(a.list->schema, &keys);
	struct cel_value all = cel_bool(true);
	size_t n = cel_size(a);

	if (n != cel_size(b))
		return cel_bool(false);
	for (size_t i = 0; i < n; i++) {
		struct cel_value item = cel_list_at(arena, b, i);

		if (!goes_on(&all, unordered
					   ? has_equal(arena, a, item, keys)
					   : cel_equal(arena,
						       cel_list_at(arena, a, i),
						       item)))
			break;
	}
	return all;
}

static struct cel_value equal_maps(struct arena *arena, struct cel_value a,
				   struct cel_value b)
{
	struct cel_value all = cel_bool(true), other;
	size_t n = cel_size(a);

	if (n != cel_size(b))
		return cel_bool(false);
	for (size_t i = 0; i < n; i++) {
		struct cel_entry entry = cel_map_at(arena, a, i);

		if (!cel_map_find(arena, b, entry.key, &other))
			return cel_bool(false);
		if (!goes_on(&all, cel_equal(arena, entry.value, other)))
			break;
	}
	return all;
}

static struct cel_value equal_optionals(struct arena *arena, struct cel_value a,
					struct cel_value b)
{
	if (!a.optional || !b.optional)
		return cel_bool(a.optional == b.optional);
	return cel_equal(arena, *a.optional, *b.optional);
}

static struct cel_value equal_unlike(struct cel_value a, struct cel_value b)
{
	if (a.kind == CEL_UNKNOWN)
		return a;
	return b.kind == CEL_UNKNOWN ? b : cel_bool(false);
}

struct cel_value cel_equal(struct arena *arena, struct cel_value a,
			   struct cel_value b)
{
	int order;

	if (cel_is_number(a) && cel_is_number(b))
		return cel_bool(compare_numbers(a, b, &order) && order == 0);
	if (a.kind != b.kind || a.kind == CEL_UNKNOWN)
		return equal_unlike(a, b);
	switch (a.kind) {
	case CEL_NULL:
		return cel_bool(true);
	case CEL_STRING:
	case CEL_BYTES:
		return cel_bool(a.text.len == b.text.len &&
				memcmp(a.text.data, b.text.data, a.text.len) ==
					0);
	case CEL_LIST:
		return equal_lists(arena, a, b);
	case CEL_MAP:
		return equal_maps(arena, a, b);
	case CEL_OPTIONAL:
		return equal_optionals(arena, a, b);
	case CEL_TYPE:
		return cel_bool(
			text_eq(cel_type_name(a.type), cel_type_name(b.type)));
	case CEL_OPAQUE:
		return cel_bool(
			a.opaque.type == b.opaque.type &&
			a.opaque.type->equal(a.opaque.data, b.opaque.data));
	default:
		return cel_bool(cel_compare(a, b, &order) && order == 0);
	}
}
