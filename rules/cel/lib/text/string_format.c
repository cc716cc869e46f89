/* SPDX-License-Identifier: Apache-2.0 */
/*
 * format() of cel-go's strings extension, version 2 (ext/formatting.go), which
 * prints doubles in English notation: `%f` groups digits by thousands, `%e`
 * writes a power of ten, and a precision of `%e` is the width of its field.
 */
#include "rules/cel/lib/lib_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "rules/cel/lib/literal.h"

enum { PRECISION_DEFAULT = 6, PRECISION_MAX = 1000 };

struct clause {
	char verb;
	int precision;
	size_t len; /* includes the percent sign */
};

/* Parses the clause at the start of the text. Returns the problem, or NULL. */
static const char *parse_clause(struct arena *arena, struct cel_text text,
				struct clause *clause)
{
	uint64_t precision = PRECISION_DEFAULT;
	size_t at = 1, n;

	if (cel_text_at(text, 1, ".")) {
		n = cel_digits_length(text, 2);
		if (!cel_digits(cel_part(text, 2, 2 + n), &precision) ||
		    precision > INT64_MAX)
			return "could not parse formatting clause: the "
			       "precision is not a number";
		at = 2 + n;
	}
	if (at == text.len)
		return "unexpected end of string";
	*clause = (struct clause){text.data[at],
				  precision > PRECISION_MAX ? PRECISION_MAX
							    : (int)precision,
				  at + 1};
	if (clause->verb && strchr("sdfebxXo", clause->verb))
		return NULL;
	return arena_printf(
		arena,
		"could not parse formatting clause: unrecognized formatting "
		"clause \"%.*s\"",
		(int)utf8_length(text.data + at, text.len - at),
		text.data + at);
}

#define WHOLE (1u << CEL_INT | 1u << CEL_UINT)
#define HEX   "only integers, byte buffers, and strings can be formatted as hex"

/* Kinds of values that each verb accepts, and the message for other kinds. */
static const struct verb {
	char verb;
	unsigned kinds; /* bits of enum cel_kind */
	const char *problem;
} verb_table[] = {
	{'d', WHOLE, "decimal clause can only be used on integers"},
	{'f', 1u << CEL_DOUBLE,
	 "fixed-point clause can only be used on doubles"},
	{'e', 1u << CEL_DOUBLE,
	 "scientific clause can only be used on doubles"},
	{'b', WHOLE | 1u << CEL_BOOL,
	 "only integers and bools can be formatted as binary"},
	{'x', WHOLE | 1u << CEL_STRING | 1u << CEL_BYTES, HEX},
	{'X', WHOLE | 1u << CEL_STRING | 1u << CEL_BYTES, HEX},
	{'o', WHOLE, "octal clause can only be used on integers"},
	{'s', (1u << CEL_OPTIONAL) - 1, /* all kinds before CEL_OPTIONAL */
	 "string clause can only be used on strings, bools, bytes, ints, "
	 "doubles, maps, lists, types, durations, and timestamps"},
};

static const struct verb *verb_of(char verb)
{
	size_t i = 0;

	while (verb_table[i].verb != verb)
		i++;
	return &verb_table[i];
}

static bool accepts(const struct verb *verb, enum cel_kind kind)
{
	return verb->kinds >> kind & 1;
}

static const char *refusal(struct arena *arena, const char *problem,
			   const struct cel_type *type)
{
	return arena_printf(arena, "%s, was given %s", problem,
			    cel_type_name(type));
}

static struct cel_value refused(struct arena *arena, const struct verb *verb,
				struct cel_value value)
{
	return cel_error(arena, "%s",
			 refusal(arena, verb->problem, cel_type_of(value)));
}

/* Writes digits with a comma after each group of three, up to the dot. */
static void grouped(const char *number, struct buf *out)
{
	size_t digits = strspn(number, "0123456789");

	for (size_t i = 0; i < digits; i++) {
		if (i && (digits - i) % 3 == 0)
			buf_addc(out, ',');
		buf_addc(out, number[i]);
	}
	buf_adds(out, number + digits);
}

static void superscript(const char *digits, struct buf *out)
{
	static const char *const raised[] = {
		"\342\201\260", "\302\271",	"\302\262",	"\302\263",
		"\342\201\264", "\342\201\265", "\342\201\266", "\342\201\267",
		"\342\201\270", "\342\201\271",
	};

	for (; *digits; digits++)
		buf_adds(out, *digits == '-' ? "\342\201\273"
					     : raised[*digits - '0']);
}

/* Zero is written without a sign. */
static void fixed(double value, int precision, struct buf *out)
{
	struct buf digits;

	buf_init(&digits);
	buf_addf(&digits, "%.*f", precision, fabs(value));
	if (value < 0)
		buf_addc(out, '-');
	grouped(digits.data, out);
	buf_release(&digits);
}

static void scientific(double value, struct buf *out)
{
	char text[32];
	char *e;

	snprintf(text, sizeof(text), "%.6e", value ? value : 0.0);
	e = strchr(text, 'e');
	*e++ = '\0';
	buf_addf(out, "%s\303\22710", text);
	superscript(*e == '+' ? e + 1 : e, out);
}

static void real(const struct clause *clause, double value, struct buf *out)
{
	struct buf text;

	buf_init(&text);
	if (isnan(value))
		buf_adds(&text, "NaN");
	else if (isinf(value))
		buf_adds(&text, value < 0 ? "-\342\210\236" : "\342\210\236");
	else if (clause->verb == 'f')
		fixed(value, clause->precision, &text);
	else
		scientific(value, &text);
	if (clause->verb == 'e') {
		for (size_t n = utf8_count(text.data, text.len);
		     n < (size_t)clause->precision; n++)
			buf_addc(out, ' ');
	}
	buf_add(out, text.data, text.len);
	buf_release(&text);
}

static void based(uint64_t value, unsigned base, bool upper, struct buf *out)
{
	const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
	char text[65];
	size_t at = sizeof(text);

	do
		text[--at] = digits[value % base];
	while (value /= base);
	buf_add(out, text + at, sizeof(text) - at);
}

/* Writes a number, bool, string or bytes for the verbs d b o x X. */
static void whole(char verb, struct cel_value value, struct buf *out)
{
	unsigned base = verb == 'd'   ? 10
			: verb == 'b' ? 2
			: verb == 'o' ? 8
				      : 16;
	uint64_t number =
		cel_is(value, CEL_BOOL) ? value.boolean : value.uinteger;

	if (cel_is(value, CEL_STRING) || cel_is(value, CEL_BYTES)) {
		for (size_t i = 0; i < value.text.len; i++)
			buf_addf(out, verb == 'X' ? "%02X" : "%02x",
				 (unsigned char)value.text.data[i]);
		return;
	}
	if (cel_is(value, CEL_INT) && value.integer < 0) {
		buf_addc(out, '-');
		number = -number;
	}
	based(number, base, verb == 'X', out);
}

static struct cel_value too_large(struct arena *arena)
{
	return cel_error(arena, "the result is too large");
}

/* Writes a value inside of a list or map, as a literal of the language. Returns
 * null, or the error. */
static struct cel_value literal(struct arena *arena, struct cel_value value,
				struct buf *out)
{
	const char *function = "";

	if (out->len > CEL_TEXT_MAX)
		return too_large(arena);
	if (cel_is_abnormal(value))
		return cel_unknown(NULL);
	if (cel_is(value, CEL_STRING) || cel_is(value, CEL_BYTES)) {
		buf_adds(out, cel_is(value, CEL_BYTES) ? "b" : "");
		cel_quote(value.text, true, out);
		return cel_null();
	}
	if (cel_is(value, CEL_DOUBLE) && isfinite(value.real)) {
		buf_addf(out, "%.6f", value.real);
		return cel_null();
	}
	if (cel_is(value, CEL_TIMESTAMP))
		function = "timestamp(";
	else if (cel_is(value, CEL_DURATION))
		function = "duration(";
	else if (!cel_is(value, CEL_DOUBLE))
		return cel_format_value(arena, value, out);
	buf_addf(out, "%s\"", function);
	cel_format_value(arena, value, out);
	buf_adds(out, *function ? "\")" : "\"");
	return cel_null();
}

static struct cel_value list_literal(struct arena *arena, struct cel_value list,
				     struct buf *out)
{
	struct cel_value problem = cel_null();

	buf_addc(out, '[');
	for (size_t i = 0; i < cel_size(list) && !cel_is_abnormal(problem);
	     i++) {
		if (i)
			buf_adds(out, ", ");
		problem = literal(arena, cel_list_at(arena, list, i), out);
	}
	buf_addc(out, ']');
	return problem;
}

struct pair {
	const char *key, *value;
};

static int compare_pairs(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	return strcmp(x->key, y->key);
}

static struct cel_value pair_of(struct arena *arena, struct cel_entry entry,
				struct pair *pair)
{
	struct cel_value problem;
	struct buf out;

	if (!cel_is(entry.key, CEL_BOOL) && !cel_is(entry.key, CEL_INT) &&
	    !cel_is(entry.key, CEL_UINT) && !cel_is(entry.key, CEL_STRING))
		return cel_error(arena, "a key of type %s has no text",
				 cel_type_name(cel_type_of(entry.key)));
	buf_init(&out);
	literal(arena, entry.key, &out);
	pair->key = cel_string_from(arena, &out).text.data;
	problem = literal(arena, entry.value, &out);
	pair->value = cel_string_from(arena, &out).text.data;
	return problem;
}

static struct cel_value map_literal(struct arena *arena, struct cel_value map,
				    struct buf *out)
{
	size_t n = cel_size(map), len = 0;
	struct pair *pairs = ARENA_ARRAY(arena, struct pair, n);

	for (size_t i = 0; i < n; i++) {
		struct cel_value problem =
			pair_of(arena, cel_map_at(arena, map, i), pairs + i);

		if (cel_is_abnormal(problem))
			return problem;
		len += strlen(pairs[i].value);
		if (len > CEL_TEXT_MAX)
			return too_large(arena);
	}
	qsort(pairs, n, sizeof(*pairs), compare_pairs);
	buf_addc(out, '{');
	for (size_t i = 0; i < n; i++)
		buf_addf(out, "%s%s:%s", i ? ", " : "", pairs[i].key,
			 pairs[i].value);
	buf_addc(out, '}');
	return cel_null();
}

static bool is_utf8(struct cel_text text)
{
	for (size_t i = 0, len; i < text.len; i += len) {
		len = utf8_length(text.data + i, text.len - i);
		if (!len)
			return false;
	}
	return true;
}

struct cel_value cel_format_value(struct arena *arena, struct cel_value value,
				  struct buf *out)
{
	switch (value.kind) {
	case CEL_LIST:
		return list_literal(arena, value, out);
	case CEL_MAP:
		return map_literal(arena, value, out);
	case CEL_DOUBLE:
		cel_double_text(value.real, out);
		break;
	case CEL_TIMESTAMP:
		cel_timestamp_text(value.time, out);
		break;
	case CEL_DURATION:
		cel_duration_text(value.time, out);
		break;
	case CEL_TYPE:
		buf_adds(out, cel_type_name(value.type));
		break;
	case CEL_NULL:
		buf_adds(out, "null");
		break;
	case CEL_BOOL:
		buf_adds(out, value.boolean ? "true" : "false");
		break;
	case CEL_INT:
	case CEL_UINT:
		whole('d', value, out);
		break;
	case CEL_BYTES:
		if (!is_utf8(value.text))
			return cel_error(arena, "invalid UTF-8 in bytes, "
						"cannot convert to string");
		/* fall through */
	case CEL_STRING:
		buf_add(out, value.text.data, value.text.len);
		break;
	default:
		return refused(arena, verb_of('s'), value);
	}
	return cel_null();
}

const char *cel_value_text(struct arena *arena, struct cel_value value)
{
	struct buf out;

	buf_init(&out);
	if (cel_is_abnormal(cel_format_value(arena, value, &out)))
		buf_adds(&out, cel_type_name(cel_type_of(value)));
	return cel_string_from(arena, &out).text.data;
}

/* Reads a double, which may be the text "NaN" or an infinity. */
static bool as_double(struct cel_value value, double *out)
{
	if (cel_is(value, CEL_DOUBLE))
		*out = value.real;
	else if (!cel_is(value, CEL_STRING))
		/* NOLINTNEXTLINE: by kind, then by text */
		return false;
	else if (cel_text_eq(value.text, "NaN"))
		*out = NAN;
	else if (cel_text_eq(value.text, "Infinity"))
		*out = INFINITY;
	else if (cel_text_eq(value.text, "-Infinity"))
		*out = -INFINITY;
	else
		return false;
	return true;
}

static struct cel_value print(struct arena *arena, const struct clause *clause,
			      struct cel_value value, struct buf *out)
{
	const struct verb *verb = verb_of(clause->verb);
	bool of_doubles = verb->kinds == 1u << CEL_DOUBLE;
	double number = 0;

	if (verb->verb == 's')
		return cel_format_value(arena, value, out);
	if (of_doubles ? !as_double(value, &number)
		       : !accepts(verb, value.kind))
		return refused(arena, verb, value);
	if (of_doubles)
		real(clause, number, out);
	else
		whole(verb->verb, value, out);
	return cel_null();
}

/* Moves *at to the next clause and appends the text before it to out. Returns
 * false at the end. */
static bool next_clause(struct cel_text text, size_t *at, struct buf *out)
{
	for (; *at < text.len; ++*at) {
		if (text.data[*at] == '%' && !cel_text_at(text, *at, "%%"))
			return true;
		buf_addc(out, text.data[*at]);
		*at += text.data[*at] == '%';
	}
	return false;
}

static const char *no_item(struct arena *arena, size_t i)
{
	return arena_printf(arena, "index %zu out of range", i);
}

static struct cel_value format(struct cel_call *call)
{
	struct cel_text text = call->args[0].text;
	struct cel_value list = call->args[1], result = cel_null();
	struct clause clause = {0};
	struct buf out;
	size_t at = 0, i = 0;

	buf_init(&out);
	while (!cel_is_abnormal(result) && next_clause(text, &at, &out)) {
		const char *problem =
			i == cel_size(list)
				? no_item(call->arena, i)
				: parse_clause(call->arena,
					       cel_part(text, at, text.len),
					       &clause);

		if (problem) {
			result = cel_error(call->arena, "%s", problem);
			break;
		}
		result = cel_list_at(call->arena, list, i++);
		if (cel_is_abnormal(result))
			break;
		result = print(call->arena, &clause, result, &out);
		if (out.len > CEL_TEXT_MAX && !cel_is_abnormal(result))
			result = too_large(call->arena);
		at += clause.len;
	}
	if (!cel_is_abnormal(result))
		return cel_string_from(call->arena, &out);
	buf_release(&out);
	return result;
}

const char *cel_format_refusal(struct arena *arena, char verb,
			       const struct cel_type *type)
{
	const struct verb *v = verb_of(verb);

	if (type->kind == CEL_DYN || type->kind == CEL_PARAM ||
	    (strchr("fe", verb) && type->kind == CEL_STRING) ||
	    accepts(v, type->kind))
		return NULL;
	return arena_printf(arena, "error during formatting: %s",
			    refusal(arena, v->problem, type));
}

const char *cel_format_check(struct arena *arena, struct cel_text text,
			     const struct cel_type *const *types, size_t n,
			     char *verbs)
{
	const char *problem = NULL;
	struct clause clause = {0};
	struct buf out;
	size_t at = 0, i = 0;

	buf_init(&out);
	for (; !problem && next_clause(text, &at, &out); at += clause.len) {
		problem = i == n ? no_item(arena, i)
				 : parse_clause(arena,
						cel_part(text, at, text.len),
						&clause);
		if (problem)
			break;
		problem = cel_format_refusal(arena, clause.verb, types[i]);
		verbs[i++] = clause.verb;
	}
	buf_release(&out);
	if (!problem && i < n)
		return arena_printf(arena,
				    "too many arguments supplied to "
				    "string.format (expected %zu, got %zu)",
				    i, n);
	return problem;
}

const struct cel_overload cel_format_text_library[] = {
	{"format", "string.(list(dyn)) string", format, cel_cost_traverse},
	{0},
};
