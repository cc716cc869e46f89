/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conversions, with the ranges and texts of cel-go (common/types) and of Go's
 * strconv. Conversions of times are in time/.
 */
#include "rules/cel/lib/lib_internal.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static struct cel_value same(struct cel_call *call)
{
	return call->args[0];
}

static struct cel_value overflow(struct cel_call *call, const char *what)
{
	return cel_error(call->arena, "%s overflow", what);
}

/* --- int, uint ----------------------------------------------------------- */

static struct cel_value int_of_double(struct cel_call *call)
{
	double d = call->args[0].real;

	if (!(d > -9223372036854775808.0 && d < 9223372036854775808.0))
		return overflow(call, "integer");
	return cel_int((int64_t)d);
}

static struct cel_value int_of_uint(struct cel_call *call)
{
	if (call->args[0].uinteger > INT64_MAX)
		return overflow(call, "integer");
	return cel_int((int64_t)call->args[0].uinteger);
}

static struct cel_value int_of_string(struct cel_call *call)
{
	int64_t value;

	return cel_integer(call->args[0].text, &value)
		       ? cel_int(value)
		       : cel_no_conversion(call, "int");
}

static struct cel_value uint_of_int(struct cel_call *call)
{
	if (call->args[0].integer < 0)
		return overflow(call, "unsigned integer");
	return cel_uint((uint64_t)call->args[0].integer);
}

static struct cel_value uint_of_double(struct cel_call *call)
{
	double d = call->args[0].real;

	if (!(d >= 0 && d < 18446744073709551616.0))
		return overflow(call, "unsigned integer");
	return cel_uint((uint64_t)d);
}

static struct cel_value uint_of_string(struct cel_call *call)
{
	uint64_t value;

	if (!cel_digits(call->args[0].text, &value))
		return cel_no_conversion(call, "uint");
	return cel_uint(value);
}

/* --- double -------------------------------------------------------------- */

static struct cel_value double_of_int(struct cel_call *call)
{
	return cel_double((double)call->args[0].integer);
}

static struct cel_value double_of_uint(struct cel_call *call)
{
	return cel_double((double)call->args[0].uinteger);
}

/* True for a text that strconv.ParseFloat() accepts. strtod() also accepts
 * blanks, a NaN with a payload, and a hexadecimal number without an
 * exponent. */
static bool is_float(const char *s, const char *end)
{
	return end != s && !*end && !isspace((unsigned char)*s) &&
	       !strchr(s, '(') && (!strpbrk(s, "xX") || strpbrk(s, "pP"));
}

static struct cel_value double_of_string(struct cel_call *call)
{
	struct cel_text text = call->args[0].text;
	const char *s = arena_strndup(call->arena, text.data, text.len);
	double value;
	char *end;

	errno = 0;
	value = strtod(s, &end);
	if (strlen(s) != text.len || !is_float(s, end) ||
	    (errno == ERANGE && isinf(value)))
		return cel_no_conversion(call, "double");
	return cel_double(value);
}

/* --- bool, string, bytes ------------------------------------------------- */

static struct cel_value bool_of_string(struct cel_call *call)
{
	static const char *const texts[] = {"1",    "t",     "T",     "true",
					    "TRUE", "True",  "0",     "f",
					    "F",    "false", "FALSE", "False"};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		if (cel_text_eq(call->args[0].text, texts[i]))
			return cel_bool(i < 6);
	}
	return cel_no_conversion(call, "bool");
}

static struct cel_value string_of_bool(struct cel_call *call)
{
	return cel_string(call->args[0].boolean ? "true" : "false");
}

static struct cel_value string_of(struct cel_call *call)
{
	struct cel_value problem;
	struct buf out;

	buf_init(&out);
	problem = cel_format_value(call->arena, call->args[0], &out);
	if (!cel_is_abnormal(problem))
		return cel_string_from(call->arena, &out);
	buf_release(&out);
	return problem;
}

static struct cel_value bytes_of_string(struct cel_call *call)
{
	return (struct cel_value){.kind = CEL_BYTES,
				  .text = call->args[0].text};
}

static struct cel_value type_of(struct cel_call *call)
{
	return (struct cel_value){.kind = CEL_TYPE,
				  .type = cel_type_of(call->args[0])};
}

const struct cel_overload cel_conversions_library[] = {
	{"type", "(A) type(A)", type_of, NULL},
	{"dyn", "(A) dyn", same, NULL},
	{"bool", "(bool) bool", same, NULL},
	{"bool", "(string) bool", bool_of_string, NULL},
	{"bytes", "(bytes) bytes", same, NULL},
	{"bytes", "(string) bytes", bytes_of_string, cel_cost_traverse},
	{"double", "(double) double", same, NULL},
	{"double", "(int) double", double_of_int, NULL},
	{"double", "(string) double", double_of_string, NULL},
	{"double", "(uint) double", double_of_uint, NULL},
	{"int", "(int) int", same, NULL},
	{"int", "(double) int", int_of_double, NULL},
	{"int", "(string) int", int_of_string, NULL},
	{"int", "(uint) int", int_of_uint, NULL},
	{"string", "(string) string", same, NULL},
	{"string", "(bool) string", string_of_bool, NULL},
	{"string", "(bytes) string", string_of, cel_cost_traverse},
	{"string", "(double) string", string_of, NULL},
	{"string", "(int) string", string_of, NULL},
	{"string", "(uint) string", string_of, NULL},
	{"timestamp", "(timestamp) timestamp", same, NULL},
	{"duration", "(duration) duration", same, NULL},
	{"string", "(timestamp) string", string_of, NULL},
	{"string", "(duration) string", string_of, NULL},
	{"uint", "(uint) uint", same, NULL},
	{"uint", "(double) uint", uint_of_double, NULL},
	{"uint", "(int) uint", uint_of_int, NULL},
	{"uint", "(string) uint", uint_of_string, NULL},
	{0},
};
