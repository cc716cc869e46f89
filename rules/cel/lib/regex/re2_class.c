/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/cel/lib/regex/re2.h"

#include <stdio.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/err.h"
#include "base/text.h"

enum { POINT_MAX = 0x10ffff };

static const char ESCAPE[] = "invalid escape sequence";
static const char RANGE[] = "invalid character class range";

const char *re2_error(const struct re2 *re, const char *what, size_t start,
		      size_t end)
{
	return arena_printf(re->arena, "error parsing regexp: %s: `%.*s`", what,
			    (int)(end - start), re->text.data + start);
}

bool re2_is_alnum(unsigned c)
{
	return (c >= '0' && c <= '9') ||
	       ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

const char *re2_point(struct re2 *re, unsigned *c)
{
	const char *s = re->text.data + re->at;
	size_t len = utf8_length(s, re->text.len - re->at);

	if (!len)
		return re2_error(re, "invalid UTF-8", re->at, re->text.len);
	*c = utf8_code_point(s, len);
	re->at += len;
	return NULL;
}

void re2_literal(struct re2 *re, unsigned c)
{
	if (re2_is_alnum(c))
		buf_addc(re->out, (char)c);
	else
		buf_addf(re->out, "\\x{%x}", c);
}

static int peek(const struct re2 *re)
{
	return re->at < re->text.len ? (unsigned char)re->text.data[re->at]
				     : -1;
}

/* Behind `\x`: two digits, or any number of them in braces. */
static bool hexadecimal(struct re2 *re, unsigned *c)
{
	bool braces = peek(re) == '{';
	int n = 0, digit = 0;

	re->at += braces;
	for (*c = 0; (braces || n < 2) && re->at < re->text.len; n++) {
		digit = cel_hex_digit(peek(re));
		re->at += utf8_length(re->text.data + re->at,
				      re->text.len - re->at);
		if (digit < 0)
			break;
		*c = *c * 16 + (unsigned)digit;
		if (*c > POINT_MAX)
			return false;
	}
	if (braces)
		return n > 0 && digit < 0 && re->text.data[re->at - 1] == '}';
	return n == 2;
}

static bool octal(struct re2 *re, unsigned first, unsigned *c)
{
	*c = first - '0';
	if (first != '0' && (peek(re) < '0' || peek(re) > '7'))
		return false;
	for (int i = 1; i < 3 && peek(re) >= '0' && peek(re) <= '7'; i++)
		*c = *c * 8 + (unsigned)(re->text.data[re->at++] - '0');
	return true;
}

const char *re2_escape(struct re2 *re, unsigned *c)
{
	static const char letters[] = "a\af\fn\nr\rt\tv\v";
	size_t start = re->at++;
	const char *problem, *letter;
	bool valid = false;

	if (re->at == re->text.len)
		return re2_error(re, "trailing backslash at end of expression",
				 re->at, re->at);
	problem = re2_point(re, c);
	if (problem)
		return problem;
	/* NOLINTNEXTLINE: read */
	if (*c < 0x80 && !re2_is_alnum(*c))
		return NULL;
	letter = *c < 0x80 && *c > '\r' ? strchr(letters, (int)*c) : NULL;
	if (letter) {
		*c = (unsigned char)letter[1];
		return NULL;
	}
	if (*c >= '0' && *c <= '7')
		valid = octal(re, *c, c);
	else if (*c == 'x')
		valid = hexadecimal(re, c);
	return valid ? NULL : re2_error(re, ESCAPE, start, re->at);
}

/* Go's names of categories; scripts are asked for at PCRE2. */
static bool is_category(const char *name)
{
	static const char names[] =
		" C Cc Cf Cn Co Cs L Ll Lm Lo Lt Lu M Mc Me Mn N Nd Nl No P Pc "
		"Pd Pe Pf Pi Po Ps S Sc Sk Sm So Z Zl Zp Zs ";
	char word[5];

	if (strlen(name) > 2)
		return false;
	snprintf(word, sizeof(word), " %s ", name);
	return strstr(names, word);
}

static bool compiles(const char *pattern)
{
	int status;
	PCRE2_SIZE offset;
	pcre2_code *code = pcre2_compile((PCRE2_SPTR)pattern, strlen(pattern),
					 PCRE2_UTF, &status, &offset, NULL);

	if (!code && status == PCRE2_ERROR_HEAP_FAILED)
		OUT_OF_MEMORY();
	pcre2_code_free(code);
	return code;
}

/* As Go compares names: without `_`, `-` and blanks, `Greek` and `greek`. */
static const char *canonical(struct arena *arena, struct cel_text name)
{
	char *text = arena_strndup(arena, name.data, name.len), *end = text;

	for (size_t i = 0; i < name.len; i++) {
		char c = name.data[i];

		if (strchr("_- ", c))
			continue;
		if (c >= 'A' && c <= 'Z' && end > text)
			c |= 0x20;
		else if (c >= 'a' && c <= 'z' && end == text)
			c &= ~0x20;
		*end++ = c;
	}
	*end = '\0';
	return text;
}

/* The inside of a class that a property is. NULL: Go knows none. */
static const char *property(struct re2 *re, struct cel_text name, bool negative)
{
	const char *text = canonical(re->arena, name), *pattern;

	if (text_eq(text, "Any"))
		return negative ? "\\P{Any}" : "\\p{Any}";
	if (text_eq(text, "Ascii"))
		return negative ? "\\x{80}-\\x{10ffff}" : "\\x{0}-\\x{7f}";
	if (text_eq(text, "Assigned"))
		return negative ? "\\p{Cn}" : "\\P{Cn}";
	if (text_eq(text, "Lc"))
		return negative ? "\\P{L&}" : "\\p{L&}";
	if (is_category(text))
		return arena_printf(re->arena, "\\%c{%s}", negative ? 'P' : 'p',
				    text);
	pattern = arena_printf(re->arena, "\\%c{sc:%s}", negative ? 'P' : 'p',
			       text);
	if (strspn(text,
		   "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") !=
		    strlen(text) ||
	    !compiles(pattern))
		return NULL;
	return pattern;
}

/* The names of a property, `\pL` or `\p{^Greek}`, and whether it is negated. */
static const char *unicode_class(struct re2 *re, const char **inside)
{
	size_t start = re->at, name = start + 3, end = name;
	bool negative = re->text.data[start + 1] == 'P';
	const char *problem;
	unsigned c;

	re->at += 2;
	if (re->at == re->text.len)
		return re2_error(re, "invalid UTF-8", re->at, re->at);
	problem = re2_point(re, &c);
	if (problem)
		return problem;
	/* NOLINTNEXTLINE: read */
	if (c == '{') {
		while (end < re->text.len && re->text.data[end] != '}')
			end++;
		if (end == re->text.len)
			return re2_error(re, RANGE, start, end);
		re->at = end + 1;
	} else {
		name = start + 2;
		end = re->at;
	}
	if (name < end && re->text.data[name] == '^') {
		negative = !negative;
		name++;
	}
	*inside = property(re, cel_part(re->text, name, end), negative);
	return *inside ? NULL : re2_error(re, RANGE, start, re->at);
}

const char *re2_class_escape(struct re2 *re, bool in_class, bool *found)
{
	static const char *const perl[][2] = {
		{"\\d", "0-9"},
		{"\\w", "0-9A-Za-z_"},
		{"\\s", "\\t\\n\\f\\r\\x{20}"},
		{"\\D", "\\x{0}-\\x{2f}\\x{3a}-\\x{10ffff}"},
		{"\\W", "\\x{0}-\\x{2f}\\x{3a}-\\x{40}\\x{5b}-\\x{5e}\\x{60}"
			"\\x{7b}-\\x{10ffff}"},
		{"\\S", "\\x{0}-\\x{8}\\x{b}\\x{e}-\\x{1f}\\x{21}-\\x{10ffff}"},
	};
	const char *inside = NULL, *problem = NULL;

	if (cel_text_at(re->text, re->at, "\\p") ||
	    cel_text_at(re->text, re->at, "\\P"))
		problem = unicode_class(re, &inside);
	for (size_t i = 0; !inside && !problem && i < 6; i++) {
		if (cel_text_at(re->text, re->at, perl[i][0])) {
			inside = perl[i][1];
			re->at += 2;
		}
	}
	if (inside)
		buf_addf(re->out, in_class ? "%s" : "[%s]", inside);
	*found = inside;
	return problem;
}

/* `[:alpha:]` inside of a class. */
static const char *posix_class(struct re2 *re, bool *found)
{
	static const char names[] =
		" alnum alpha ascii blank cntrl digit graph lower print punct "
		"space upper word xdigit ";
	size_t start = re->at, end = start + 2;
	const char *name;
	bool negative;

	while (end < re->text.len && !cel_text_at(re->text, end, ":]"))
		end++;
	*found = cel_text_at(re->text, start, "[:") && end < re->text.len;
	if (!*found)
		return NULL;
	re->at = end + 2;
	negative = re->text.data[start + 2] == '^';
	name = arena_printf(re->arena, " %.*s ",
			    (int)(end - start - 2 - negative),
			    re->text.data + start + 2 + negative);
	if (strlen(name) < 3 || !strstr(names, name) ||
	    strlen(name) != end - start - negative)
		return re2_error(re, RANGE, start, re->at);
	buf_add(re->out, re->text.data + start, re->at - start);
	return NULL;
}

static const char *class_point(struct re2 *re, size_t class, unsigned *c)
{
	if (re->at == re->text.len)
		return re2_error(re, "missing closing ]", class, re->at);
	return peek(re) == '\\' ? re2_escape(re, c) : re2_point(re, c);
}

static const char *class_range(struct re2 *re, size_t class)
{
	size_t start = re->at;
	unsigned low, high;
	const char *problem = class_point(re, class, &low);

	if (problem)
		return problem;
	/* NOLINTNEXTLINE: it was read */
	re2_literal(re, low);
	if (peek(re) != '-' || re->at + 1 >= re->text.len ||
	    re->text.data[re->at + 1] == ']')
		return NULL;
	re->at++;
	problem = class_point(re, class, &high);
	if (problem)
		return problem;
	/* NOLINTNEXTLINE: read */
	if (high < low)
		return re2_error(re, RANGE, start, re->at);
	buf_addc(re->out, '-');
	re2_literal(re, high);
	return NULL;
}

const char *re2_class(struct re2 *re)
{
	size_t start = re->at++, first;
	const char *problem = NULL;

	buf_addc(re->out, '[');
	if (peek(re) == '^') {
		re->at++;
		buf_addc(re->out, '^');
	}
	first = re->at;
	while (!problem && (peek(re) != ']' || re->at == first)) {
		bool found = false;

		problem = posix_class(re, &found);
		if (!problem && !found)
			problem = re2_class_escape(re, true, &found);
		if (!problem && !found)
			problem = class_range(re, start);
	}
	re->at++;
	buf_addc(re->out, ']');
	return problem;
}
