/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that several libraries use: error values, digits, quotes,
 * searching in text, texts of numbers.
 */
#include "rules/cel/lib/lib_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"

struct cel_value cel_no_overload(const struct cel_call *call)
{
	return cel_error(call->arena, "no such overload");
}

struct cel_value cel_is_not(const struct cel_call *call, const char *what)
{
	struct cel_text text = call->args[0].text;

	return cel_error(call->arena, "'%.*s' is not %s", (int)text.len,
			 text.data, what);
}

struct cel_value cel_no_conversion(const struct cel_call *call, const char *to)
{
	return cel_error(call->arena, "type conversion error from '%s' to '%s'",
			 cel_type_name(cel_type_of(call->args[0])), to);
}

struct cel_value cel_string_from(struct arena *arena, struct buf *buf)
{
	struct cel_value value = cel_stringn(
		arena_strndup(arena, buf->data, buf->len), buf->len);

	buf_release(buf);
	return value;
}

struct cel_value cel_opaque(const struct cel_opaque_type *type,
			    const void *data)
{
	return (struct cel_value){.kind = CEL_OPAQUE, .opaque = {type, data}};
}

int cel_hex_digit(int c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

size_t cel_digits_length(struct cel_text text, size_t at)
{
	size_t end = at;

	while (end < text.len && text.data[end] >= '0' && text.data[end] <= '9')
		end++;
	return end - at;
}

bool cel_digits(struct cel_text text, uint64_t *out)
{
	*out = 0;
	for (size_t i = 0; i < text.len; i++) {
		unsigned digit = (unsigned char)text.data[i] - '0';

		if (digit > 9 || __builtin_mul_overflow(*out, 10, out) ||
		    __builtin_add_overflow(*out, digit, out))
			return false;
	}
	return text.len;
}

bool cel_integer(struct cel_text text, int64_t *out)
{
	bool negative = cel_text_at(text, 0, "-");
	bool sign = negative || cel_text_at(text, 0, "+");
	uint64_t size;

	if (!cel_digits(cel_part(text, sign, text.len), &size) ||
	    size > (uint64_t)INT64_MAX + negative)
		return false;
	*out = (int64_t)(negative ? -size : size);
	return true;
}

/* True for the code points that strconv.IsPrint() rejects. */
static bool is_unprintable(unsigned c)
{
	static const unsigned ranges[][2] = {
		{0x7f, 0xa0},	    {0xad, 0xad},	 {0x600, 0x605},
		{0x61c, 0x61c},	    {0x1680, 0x1680},	 {0x180e, 0x180e},
		{0x2000, 0x200f},   {0x2028, 0x202f},	 {0x205f, 0x206f},
		{0x3000, 0x3000},   {0xd800, 0xf8ff},	 {0xfeff, 0xfeff},
		{0xfff0, 0xfffb},   {0xfffe, 0xffff},	 {0x1fffe, 0x1ffff},
		{0xe0000, 0xe00ff}, {0xe01f0, 0x10ffff},
	};

	for (size_t i = 0; i < ARRAY_SIZE(ranges); i++) {
		if (c >= ranges[i][0] && c <= ranges[i][1])
			return true;
	}
	return c < ' ';
}

static void quote_point(const char *s, size_t len, bool printable,
			struct buf *out)
{
	/* escape letters for \a (7) and the following bytes */
	static const char letters[] = "abtnvfr";
	unsigned c = utf8_code_point(s, len);

	if (c == '"' || c == '\\')
		buf_addf(out, "\\%c", (int)c);
	else if (c >= '\a' && c <= '\r')
		buf_addf(out, "\\%c", letters[c - '\a']);
	else if (!printable || !is_unprintable(c))
		buf_add(out, s, len);
	else if (c < 0x80)
		buf_addf(out, "\\x%02x", c);
	else
		buf_addf(out, c < 0x10000 ? "\\u%04x" : "\\U%08x", c);
}

void cel_quote(struct cel_text text, bool printable, struct buf *out)
{
	buf_addc(out, '"');
	for (size_t i = 0; i < text.len;) {
		size_t len = utf8_length(text.data + i, text.len - i);

		if (len)
			quote_point(text.data + i, len, printable, out);
		else
			buf_addf(out, "\\x%02x", (unsigned char)text.data[i]);
		i += len ? len : 1;
	}
	buf_addc(out, '"');
}

struct cel_value *cel_items(const struct cel_call *call, struct cel_value list,
			    struct cel_value *abnormal)
{
	size_t n = cel_size(list);
	struct cel_value *items = ARENA_ARRAY(call->arena, struct cel_value, n);

	for (size_t i = 0; i < n; i++) {
		items[i] = cel_list_at(call->arena, list, i);
		if (abnormal && cel_is_abnormal(items[i])) {
			*abnormal = items[i];
			return NULL;
		}
	}
	return items;
}

size_t cel_text_find(struct cel_text text, char byte)
{
	const char *at = memchr(text.data, byte, text.len);

	return at ? (size_t)(at - text.data) : text.len;
}

bool cel_text_at(struct cel_text text, size_t at, const char *part)
{
	size_t len = strlen(part);

	return at <= text.len && text.len - at >= len &&
	       memcmp(text.data + at, part, len) == 0;
}

struct cel_value cel_order(const struct cel_call *call, int order)
{
	const char *name = call->overload->name;

	if (text_eq(name, "isGreaterThan"))
		return cel_bool(order > 0);
	if (text_eq(name, "isLessThan"))
		return cel_bool(order < 0);
	return cel_int((order > 0) - (order < 0));
}

/* Writes doubles like Go's strconv: with the fewest digits that are read as the
 * same number. */

enum { DIGITS_MAX = 17, NUMBER_SIZE = 32 };

/* Writes `-d.ddde±dd` with the fewest digits; returns the number of digits
 * after the dot. */
static int shortest(double value, char out[NUMBER_SIZE])
{
	int digits = 0;

	do
		snprintf(out, NUMBER_SIZE, "%.*e", digits, value);
	while (strtod(out, NULL) != value && ++digits < DIGITS_MAX);
	return digits;
}

static bool add_special(double value, struct buf *out)
{
	if (isnan(value))
		buf_adds(out, "NaN");
	else if (isinf(value))
		buf_adds(out, value < 0 ? "-Inf" : "+Inf");
	return isnan(value) || isinf(value);
}

void cel_double_text(double value, struct buf *out)
{
	char text[NUMBER_SIZE];
	int exponent;

	if (add_special(value, out))
		return;
	shortest(value, text);
	exponent = (int)strtol(strchr(text, 'e') + 1, NULL, 10);
	if (exponent < -4 || exponent >= 6)
		buf_adds(out, text);
	else
		cel_fixed_text(value, out);
}

void cel_fixed_text(double value, struct buf *out)
{
	char text[NUMBER_SIZE];
	int digits = shortest(value, text);
	int exponent = (int)strtol(strchr(text, 'e') + 1, NULL, 10);

	buf_addf(out, "%.*f", digits > exponent ? digits - exponent : 0, value);
}
