/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quantities (apiserver pkg/cel/library/quantity.go). isInteger(), asInteger()
 * and asApproximateFloat() depend on how apimachinery stores a quantity
 * (pkg/api/resource): short texts as 64 bits with a power of ten, others as a
 * decimal of any size. `2000m` and `1Pi` are not integers.
 */
#include "rules/cel/lib/lib_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "kube/quantity.h"

enum { NANO_SCALE = -9, DIGITS_MAX = 18 };

struct held_quantity {
	struct quantity quantity;
	int scale;   /* unit in which apimachinery stores it: 10^scale */
	bool is_int; /* the value fits into 64 bits in that unit */
};

static bool equal(const void *a, const void *b)
{
	const struct held_quantity *x = a, *y = b;

	return quantity_cmp(x->quantity, y->quantity) == 0;
}

static const struct cel_opaque_type quantity_type = {
	.type = {.kind = CEL_OPAQUE, .name = "kubernetes.Quantity"},
	.equal = equal};

/* Returns a quantity in units of 10^scale, where scale is at least -9. */
__extension__ static __int128 units(struct quantity q, int scale)
{
	__extension__ __int128 value = q.nano;

	for (; scale > NANO_SCALE; scale--)
		value /= 10;
	return value;
}

/* Lengths of the parts of a valid quantity's text. */
struct layout {
	size_t whole, fraction; /* number of digits, without leading zeros */
	const char *suffix;
};

static struct layout layout_of(const char *s)
{
	struct layout layout = {0};
	size_t zeros;

	s += *s == '-' || *s == '+';
	zeros = strspn(s, "0");
	s += zeros;
	layout.whole = strspn(s, "0123456789");
	s += layout.whole;
	/* cppcheck-suppress nullPointerRedundantCheck */
	if (*s == '.') {
		layout.fraction = strspn(++s, "0123456789");
		s += layout.fraction;
	} else if (zeros && !layout.whole && !*s) {
		layout.whole = 1; /* "00" counts as one digit */
	}
	layout.suffix = s;
	return layout;
}

static int exponent_of(const char *suffix, enum quantity_format format)
{
	/* powers of 1000 from 10^-9 on */
	static const char letters[] = "num\001kMGTPE";
	const char *letter;

	if (format == QUANTITY_EXPONENT)
		return (int)strtol(suffix + 1, NULL, 10);
	if (format == QUANTITY_BINARY)
		letter = strchr(letters, *suffix == 'K' ? 'k' : *suffix);
	else
		letter = *suffix ? strchr(letters, *suffix) : letters + 3;
	return (int)(letter - letters - 3) *
	       (format == QUANTITY_BINARY ? 10 : 3);
}

static void hold(const char *text, struct held_quantity *held)
{
	struct layout layout = layout_of(text);
	size_t digits = layout.whole + layout.fraction;
	int exponent = exponent_of(layout.suffix, held->quantity.format);

	held->scale = NANO_SCALE;
	if (held->quantity.format == QUANTITY_BINARY) {
		held->is_int = !layout.fraction &&
			       14 - (int)digits - exponent * 3 / 10 >= 0;
		if (held->is_int)
			held->scale = 0;
		return;
	}
	exponent -= (int)layout.fraction;
	held->is_int = digits <= DIGITS_MAX && exponent >= NANO_SCALE;
	if (held->is_int)
		held->scale = exponent;
}

static struct cel_value quantity(struct cel_call *call)
{
	struct cel_text text = call->args[0].text;
	struct held_quantity *held =
		ARENA_NEW(call->arena, struct held_quantity);

	if (!quantity_parse(text.data, text.len, &held->quantity))
		return cel_is_not(call, "a quantity");
	hold(arena_strndup(call->arena, text.data, text.len), held);
	return cel_opaque(&quantity_type, held);
}

static struct cel_value is_quantity(struct cel_call *call)
{
	struct quantity quantity;

	return cel_bool(quantity_parse(call->args[0].text.data,
				       call->args[0].text.len, &quantity));
}

static const struct held_quantity *held_of(const struct cel_call *call, int i)
{
	return call->args[i].opaque.data;
}

static struct cel_value sign(struct cel_call *call)
{
	return cel_order(call, quantity_cmp(held_of(call, 0)->quantity,
					    quantity_from(0)));
}

static struct cel_value compare(struct cel_call *call)
{
	return cel_order(call, quantity_cmp(held_of(call, 0)->quantity,
					    held_of(call, 1)->quantity));
}

static struct cel_value approximate(struct cel_call *call)
{
	const struct held_quantity *held = held_of(call, 0);
	double value = (double)units(held->quantity, held->scale);
	char power[16];

	if (!held->scale)
		return cel_double(value);
	snprintf(power, sizeof(power), "1e%d", held->scale);
	return cel_double(value * strtod(power, NULL));
}

static bool as_integer(const struct held_quantity *held, int64_t *out)
{
	__extension__ __int128 value = units(held->quantity, 0);

	*out = (int64_t)value;
	return held->is_int && held->scale >= 0 && *out == value;
}

static struct cel_value is_integer(struct cel_call *call)
{
	int64_t value;

	return cel_bool(as_integer(held_of(call, 0), &value));
}

static struct cel_value integer(struct cel_call *call)
{
	int64_t value;

	if (as_integer(held_of(call, 0), &value))
		return cel_int(value);
	return cel_error(call->arena, "cannot convert value to integer");
}

static struct held_quantity other_of(const struct cel_call *call)
{
	if (cel_is(call->args[1], CEL_INT))
		return (struct held_quantity){
			quantity_from(call->args[1].integer), 0, true};
	return *held_of(call, 1);
}

static struct cel_value add_or_sub(struct cel_call *call)
{
	bool adds = text_eq(call->overload->name, "add");
	struct held_quantity *sum =
		ARENA_NEW(call->arena, struct held_quantity);
	struct held_quantity a = *held_of(call, 0), b = other_of(call);
	bool ints = a.is_int && b.is_int;
	__extension__ __int128 value;

	sum->quantity = adds ? quantity_add(a.quantity, b.quantity)
			     : quantity_sub(a.quantity, b.quantity);
	sum->scale = a.scale < b.scale ? a.scale : b.scale;
	if (ints && !b.quantity.nano)
		sum->scale = a.scale;
	else if (ints && !a.quantity.nano)
		sum->scale = b.scale;
	value = units(sum->quantity, sum->scale);
	sum->is_int = ints && value == (int64_t)value;
	return cel_opaque(&quantity_type, sum);
}

#define Q "kubernetes.Quantity"

const struct cel_overload cel_quantities_library[] = {
	{"quantity", "(string) " Q, quantity, cel_cost_traverse},
	{"isQuantity", "(string) bool", is_quantity, cel_cost_traverse},
	{"sign", "(" Q ") int", sign, NULL},
	{"isGreaterThan", Q ".(" Q ") bool", compare, NULL},
	{"isLessThan", Q ".(" Q ") bool", compare, NULL},
	{"compareTo", Q ".(" Q ") int", compare, NULL},
	{"asApproximateFloat", Q ".() double", approximate, NULL},
	{"asInteger", Q ".() int", integer, NULL},
	{"isInteger", Q ".() bool", is_integer, NULL},
	{"add", Q ".(" Q ") " Q, add_or_sub, NULL},
	{"add", Q ".(int) " Q, add_or_sub, NULL},
	{"sub", Q ".(" Q ") " Q, add_or_sub, NULL},
	{"sub", Q ".(int) " Q, add_or_sub, NULL},
	{0},
};
