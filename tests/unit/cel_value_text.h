/* SPDX-License-Identifier: Apache-2.0 */
/* Prints values as JSON, or as text where JSON has no such type. */
#ifndef TESTS_CEL_VALUE_TEXT_H
#define TESTS_CEL_VALUE_TEXT_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cel/value.h"

static void value_text(struct cel_value value, struct buf *out);

static void add_double(double value, struct buf *out)
{
	char text[40];
	int digits = 0;

	do
		snprintf(text, sizeof(text), "%.*g", ++digits, value);
	while (digits < 17 && strtod(text, NULL) != value);
	buf_adds(out, text);
	if (isfinite(value) && !strpbrk(text, ".e"))
		buf_adds(out, ".0");
}

static void add_list(struct arena *arena, struct cel_value list,
		     struct buf *out)
{
	buf_addc(out, '[');
	for (size_t i = 0; i < cel_size(list); i++) {
		if (i)
			buf_adds(out, ", ");
		value_text(cel_list_at(arena, list, i), out);
	}
	buf_addc(out, ']');
}

static void add_map(struct arena *arena, struct cel_value map, struct buf *out)
{
	buf_addc(out, '{');
	for (size_t i = 0; i < cel_size(map); i++) {
		struct cel_entry entry = cel_map_at(arena, map, i);

		if (i)
			buf_adds(out, ", ");
		value_text(entry.key, out);
		buf_adds(out, ": ");
		value_text(entry.value, out);
	}
	buf_addc(out, '}');
}

static void add_aggregate(struct cel_value value, struct buf *out)
{
	struct arena arena = ARENA_INIT;

	if (value.kind == CEL_LIST)
		add_list(&arena, value, out);
	else if (value.kind == CEL_MAP)
		add_map(&arena, value, out);
	arena_release(&arena);
}

static void add_time(struct cel_value value, struct buf *out)
{
	buf_addf(out, "%s(%lld.%09d)",
		 value.kind == CEL_DURATION ? "duration" : "timestamp",
		 (long long)value.time.seconds, value.time.nanos);
}

static void add_optional(struct cel_value value, struct buf *out)
{
	if (!value.optional) {
		buf_adds(out, "optional.none()");
		return;
	}
	buf_adds(out, "optional.of(");
	value_text(*value.optional, out);
	buf_addc(out, ')');
}

static void value_text(struct cel_value value, struct buf *out)
{
	switch (value.kind) {
	case CEL_BOOL:
		buf_adds(out, value.boolean ? "true" : "false");
		break;
	case CEL_INT:
		buf_addf(out, "%lld", (long long)value.integer);
		break;
	case CEL_UINT:
		buf_addf(out, "%lluu", (unsigned long long)value.uinteger);
		break;
	case CEL_DOUBLE:
		add_double(value.real, out);
		break;
	case CEL_BYTES:
		buf_addc(out, 'b');
		/* fall through */
	case CEL_STRING:
		text_json(value.text.data, value.text.len, out);
		break;
	case CEL_LIST:
	case CEL_MAP:
		add_aggregate(value, out);
		break;
	case CEL_TIMESTAMP:
	case CEL_DURATION:
		add_time(value, out);
		break;
	case CEL_OPTIONAL:
		add_optional(value, out);
		break;
	case CEL_TYPE:
		buf_adds(out, cel_type_name(value.type));
		break;
	case CEL_ERROR:
		buf_adds(out, "error: ");
		buf_add(out, value.text.data, value.text.len);
		break;
	case CEL_OPAQUE:
		buf_adds(out, value.opaque.type->type.name);
		break;
	case CEL_OBJECT:
		buf_adds(out, "object");
		break;
	default:
		buf_adds(out, value.kind == CEL_NULL ? "null" : "unknown");
	}
}

#endif
