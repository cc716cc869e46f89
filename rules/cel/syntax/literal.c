/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the values of literals. The lexer has checked that they are
 * well-formed; ranges and code points are checked here. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "parser.h"

/* --- numbers ------------------------------------------------------------- */

static bool read_uint(const char *s, uint64_t *out)
{
	bool hex = s[0] == '0' && s[1] == 'x';

	errno = 0;
	*out = strtoull(hex ? s + 2 : s, NULL, hex ? 16 : 10);
	return errno == 0;
}

static const char *read_int(const char *s, bool minus, struct cel_value *out)
{
	uint64_t size;

	if (!read_uint(s, &size) || size > (uint64_t)INT64_MAX + minus)
		return "invalid int literal";
	*out = cel_int(minus ? (int64_t)-size : (int64_t)size);
	return NULL;
}

static const char *read_double(const char *s, bool minus, struct cel_value *out)
{
	double real = strtod(s, NULL);

	if (isinf(real))
		return "invalid double literal";
	*out = cel_double(minus ? -real : real);
	return NULL;
}

/* --- strings ------------------------------------------------------------- */

struct unescaping {
	const char *s, *end;
	char *out;
	bool bytes;
};

static bool read_digits(struct unescaping *r, int n, unsigned base,
			uint32_t *code)
{
	static const char digits[] = "0123456789abcdef";
	const char *digit;

	for (*code = 0; n; n--, r->s++) {
		if (r->s == r->end)
			return false;
		digit = memchr(digits, tolower((unsigned char)*r->s), base);
		if (!digit)
			return false;
		*code = *code * base + (uint32_t)(digit - digits);
	}
	return true;
}

/* Reads the code point or byte that the digits after a backslash encode. */
static bool read_code(struct unescaping *r, uint32_t *code)
{
	switch (*r->s++) {
	case 'x':
	case 'X':
		return read_digits(r, 2, 16, code);
	case 'u':
		return !r->bytes && read_digits(r, 4, 16, code);
	case 'U':
		return !r->bytes && read_digits(r, 8, 16, code);
	default:
		r->s--;
		return *r->s <= '3' && read_digits(r, 3, 8, code);
	}
}

/* Decodes the sequence after a backslash. */
static const char *put_escape(struct unescaping *r)
{
	static const char names[] = "abfnrtv\"'\\?`";
	static const char means[] = "\a\b\f\n\r\t\v\"'\\?`";
	const char *name = memchr(names, *r->s, sizeof(names) - 1);
	uint32_t code;

	if (name) {
		*r->out++ = means[name - names];
		r->s++;
		return NULL;
	}
	if (!read_code(r, &code))
		return "unable to unescape string";
	if (r->bytes)
		*r->out++ = (char)code;
	else if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		return "invalid unicode code point";
	else
		r->out = utf8_put(r->out, code);
	return NULL;
}

/* Decodes the text between the quotes. Line ends become LF (cel-go
 * parser/unescape.go). */
static const char *unescape(struct unescaping *r, bool raw)
{
	const char *wrong = NULL;

	while (r->s < r->end && !wrong) {
		char c = *r->s++;

		if (c == '\\' && !raw) {
			wrong = put_escape(r);
		} else if (c == '\r') {
			*r->out++ = '\n';
			r->s += r->s < r->end && *r->s == '\n';
		} else {
			*r->out++ = c;
		}
	}
	return wrong;
}

static const char *read_string(struct arena *arena, struct cel_text token,
			       bool bytes, struct cel_value *out)
{
	struct unescaping r = {token.data + bytes, token.data + token.len, NULL,
			       bytes};
	bool raw = *r.s == 'r' || *r.s == 'R';
	size_t quotes;
	char *memory;
	const char *wrong;

	r.s += raw;
	quotes = r.end - r.s >= 6 && r.s[1] == *r.s && r.s[2] == *r.s ? 3 : 1;
	r.s += quotes;
	r.end -= quotes;
	/* The result fits, because a decoded sequence is shorter than its
	 * escape. */
	r.out = memory = arena_take(arena, token.len + 1, 1);
	wrong = unescape(&r, raw);
	*r.out = '\0';
	*out = cel_stringn(memory, (size_t)(r.out - memory));
	if (bytes)
		out->kind = CEL_BYTES;
	return wrong;
}

const char *cel_literal(struct arena *arena, const char *text,
			struct cel_token token, bool minus,
			struct cel_value *out)
{
	struct cel_text part = {text + token.start, token.end - token.start};
	const char *s;
	uint64_t size;

	*out = cel_null();
	if (token.kind == TOKEN_STRING || token.kind == TOKEN_BYTES)
		return read_string(arena, part, token.kind == TOKEN_BYTES, out);
	if (token.kind == TOKEN_TRUE || token.kind == TOKEN_FALSE)
		*out = cel_bool(token.kind == TOKEN_TRUE);
	s = arena_strndup(arena, part.data, part.len);
	if (token.kind == TOKEN_INT)
		return read_int(s, minus, out);
	if (token.kind == TOKEN_DOUBLE)
		return read_double(s, minus, out);
	if (token.kind != TOKEN_UINT)
		return NULL;
	if (!read_uint(s, &size))
		return "invalid uint literal";
	*out = cel_uint(size);
	return NULL;
}
