/* SPDX-License-Identifier: Apache-2.0 */
/* What literals stand for. The lexer has seen that they are well-formed; what
 * is left are ranges and code points. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rules/cel/syntax/lexer.h"

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

struct reader {
	const char *s, *end;
	char *out;
	bool bytes;
};

static void put_code_point(struct reader *r, uint32_t c)
{
	if (c < 0x80) {
		*r->out++ = (char)c;
		return;
	}
	if (c < 0x800) {
		*r->out++ = (char)(0xc0 | c >> 6);
	} else {
		if (c < 0x10000) {
			*r->out++ = (char)(0xe0 | c >> 12);
		} else {
			*r->out++ = (char)(0xf0 | c >> 18);
			*r->out++ = (char)(0x80 | (c >> 12 & 0x3f));
		}
		*r->out++ = (char)(0x80 | (c >> 6 & 0x3f));
	}
	*r->out++ = (char)(0x80 | (c & 0x3f));
}

static uint32_t digits(struct reader *r, int n, int base)
{
	char text[9] = {0};

	memcpy(text, r->s, (size_t)n);
	r->s += n;
	return (uint32_t)strtoul(text, NULL, base);
}

/* The sequence behind a backslash. */
static const char *put_escape(struct reader *r)
{
	static const char names[] = "abfnrtv", means[] = "\a\b\f\n\r\t\v";
	char c = *r->s++;
	const char *name = strchr(names, c);
	uint32_t code;

	if (name || !strchr("xXuU0123", c)) {
		*r->out++ = name ? means[name - names] : c;
		return NULL;
	}
	if (r->bytes && (c == 'u' || c == 'U'))
		return "unable to unescape string";
	if (c == 'x' || c == 'X')
		code = digits(r, 2, 16);
	else if (c == 'u' || c == 'U')
		code = digits(r, c == 'u' ? 4 : 8, 16);
	else
		r->s--, code = digits(r, 3, 8);
	if (r->bytes)
		*r->out++ = (char)code;
	else if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		return "invalid unicode code point";
	else
		put_code_point(r, code);
	return NULL;
}

/* Between the quotes. Line ends become LF (cel-go parser/unescape.go). */
static const char *unescape(struct reader *r, bool raw)
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
	struct reader r = {token.data + bytes, token.data + token.len, NULL,
			   bytes};
	bool raw = *r.s == 'r' || *r.s == 'R';
	size_t quotes;
	char *memory;
	const char *wrong;

	r.s += raw;
	quotes = r.end - r.s >= 6 && r.s[1] == *r.s && r.s[2] == *r.s ? 3 : 1;
	r.s += quotes;
	r.end -= quotes;
	/* What a sequence stands for is shorter than the sequence. */
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
