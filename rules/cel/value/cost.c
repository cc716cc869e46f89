/* SPDX-License-Identifier: Apache-2.0 */
/* Costs that overloads share (cel-go interpreter/runtimecost.go). */
#include "cel/function.h"

uint64_t cel_cost_size(struct cel_value value)
{
	switch (value.kind) {
	case CEL_STRING:
		return cel_text_size(value.text);
	case CEL_BYTES:
		return value.text.len;
	case CEL_LIST:
	case CEL_MAP:
		return cel_size(value);
	case CEL_OPTIONAL:
		return value.optional ? cel_cost_size(*value.optional) : 1;
	case CEL_OPAQUE:
		return value.opaque.type->size
			       ? value.opaque.type->size(value.opaque.data)
			       : 1;
	default:
		return 1;
	}
}

uint64_t cel_cost_share(uint64_t size, double factor)
{
	double cost = (double)size * factor;
	uint64_t whole = (uint64_t)cost;

	return whole + ((double)whole < cost);
}

uint64_t cel_cost_traverse(const struct cel_call *call, struct cel_value result)
{
	return cel_cost_share(cel_cost_size(call->args[0]), 0.1);
}

uint64_t cel_cost_traverse_argument(const struct cel_call *call,
				    struct cel_value result)
{
	return cel_cost_share(cel_cost_size(call->args[1]), 0.1);
}

uint64_t cel_cost_traverse_both(const struct cel_call *call,
				struct cel_value result)
{
	return cel_cost_share(cel_cost_size(call->args[0]) +
				      cel_cost_size(call->args[1]),
			      0.1);
}

uint64_t cel_cost_twice(const struct cel_call *call, struct cel_value result)
{
	return cel_cost_share(2 * cel_cost_size(call->args[0]), 0.1);
}

uint64_t cel_cost_shorter(const struct cel_call *call, struct cel_value result)
{
	uint64_t a = cel_cost_size(call->args[0]);
	uint64_t b = cel_cost_size(call->args[1]);

	return cel_cost_share(a < b ? a : b, 0.1);
}
