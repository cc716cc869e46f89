/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Optional values (cel-go cel/library.go, version 2). The evaluator implements
 * or() and orValue(), because they may skip their argument. Selecting and
 * indexing with `?` are operators.
 */
#include "rules/cel/lib/lib_internal.h"

#include "base/array.h"
#include "base/text.h"

/* Go's zero time, 0001-01-01T00:00:00Z. */
static const int64_t ZERO_TIME = -62135596800;

static bool is_zero(struct cel_value value)
{
	switch (value.kind) {
	case CEL_NULL:
		return true;
	case CEL_BOOL:
		return !value.boolean;
	case CEL_INT:
		return value.integer == 0;
	case CEL_UINT:
		return value.uinteger == 0;
	case CEL_DOUBLE:
		return value.real == 0;
	case CEL_STRING:
	case CEL_BYTES:
		return value.text.len == 0;
	case CEL_LIST:
	case CEL_MAP:
		return cel_size(value) == 0;
	case CEL_DURATION:
		return value.time.seconds == 0 && value.time.nanos == 0;
	case CEL_TIMESTAMP:
		return value.time.seconds == ZERO_TIME && value.time.nanos == 0;
	default:
		return false;
	}
}

static struct cel_value of(struct cel_call *call)
{
	return cel_optional(call->arena, call->args[0]);
}

static struct cel_value of_non_zero(struct cel_call *call)
{
	return is_zero(call->args[0]) ? cel_optional_none() : of(call);
}

static struct cel_value none(struct cel_call *call)
{
	return cel_optional_none();
}

static struct cel_value value_of(struct cel_call *call)
{
	if (!call->args[0].optional)
		return cel_error(call->arena, "optional.none() dereference");
	return *call->args[0].optional;
}

static struct cel_value has_value(struct cel_call *call)
{
	return cel_bool(call->args[0].optional);
}

static struct cel_value first_or_last(struct cel_call *call)
{
	bool first = text_eq(call->overload->name, "first");
	size_t n = cel_size(call->args[0]);
	struct cel_value item;

	if (!n)
		return cel_optional_none();
	item = cel_list_at(call->arena, call->args[0], first ? 0 : n - 1);
	return cel_is_abnormal(item) ? item : cel_optional(call->arena, item);
}

static struct cel_value unwrap(struct cel_call *call)
{
	struct cel_value *kept = NULL, abnormal;
	const struct cel_value *items =
		cel_items(call, call->args[0], &abnormal);
	size_t n = 0, size = 0;

	if (!items)
		return abnormal;
	for (size_t i = 0; i < cel_size(call->args[0]); i++) {
		if (!cel_is(items[i], CEL_OPTIONAL))
			return cel_no_overload(call);
		if (items[i].optional)
			*VEC_PUSH(call->arena, kept, n, size) =
				*items[i].optional;
	}
	return cel_list(call->arena, kept, n);
}

const struct cel_overload cel_optionals_library[] = {
	{"optional.of", "(V) optional(V)", of, NULL},
	{"optional.ofNonZeroValue", "(V) optional(V)", of_non_zero, NULL},
	{"optional.none", "() optional(V)", none, NULL},
	{"optional.unwrap", "(list(optional(V))) list(V)", unwrap, NULL},
	{"unwrapOpt", "list(optional(V)).() list(V)", unwrap, NULL},
	{"value", "optional(V).() V", value_of, NULL},
	{"hasValue", "optional(V).() bool", has_value, NULL},
	{"or", "optional(V).(optional(V)) optional(V)", NULL, NULL},
	{"orValue", "optional(V).(V) V", NULL, NULL},
	{"first", "list(V).() optional(V)", first_or_last, NULL},
	{"last", "list(V).() optional(V)", first_or_last, NULL},
	{0},
};
