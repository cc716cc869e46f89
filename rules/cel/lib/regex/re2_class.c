/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Translates escapes and character classes of an RE2 pattern for PCRE2.
 */
#include "rules/cel/lib/regex/re2.h"

#include <stdio.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/err.h"
#include "base/text.h"

enum { POINT_MAX = 0x10ffff };

bool re2_is_alnum(unsigned c)
{
	return (c >= '0' && c <= '9') ||
	       ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

bool re2_point(struct re2 *re, unsigned *c)
{
	const char *s = re->text.data + re->at;
	size_t len = utf8_length(s, re->text.len - re->at);

	if (len)
		*c = utf8_code_point(s, len);
	re->at += len;
	return len;
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

/* Reads the digits after `\x`: two, or any number in braces. */
static bool hexadecimal(struct re2 *re, unsigned *c)
{
	bool braces = peek(re) == '{';
	int n = 0, digit;

	re->at += braces;
	for (*c = 0; (braces || n < 2) &&
		     (digit = cel_hex_digit(peek(re))) >= 0 && *c <= POINT_MAX;
	     n++, re->at++)
		*c = *c * 16 + (unsigned)digit;
	if (*c > POINT_MAX || !n || (braces && peek(re) != '}'))
		return false;
	re->at += braces;
	return braces || n == 2;
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

bool re2_escape(struct re2 *re, unsigned *c)
{
	static const char letters[] = "a\af\fn\nr\rt\tv\v";
	const char *letter;

	re->at++;
	if (!re2_point(re, c))
		return false;
	if (*c < 0x80 && !re2_is_alnum(*c))
		return true;
	letter = *c < 0x80 ? strchr(letters, (int)*c) : NULL;
	if (letter)
		*c = (unsigned char)letter[1];
	else if (*c >= '0' && *c <= '7')
		return octal(re, *c, c);
	return letter || (*c == 'x' && hexadecimal(re, c));
}

/* True for Go's names of categories. Names of scripts are checked by PCRE2. */
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

/* Returns a name in the form in which Go compares names: without `_`, `-` and
 * blanks, and capitalized (`greek` as `Greek`). */
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

/* Returns the content of a class for a property; NULL if Go does not have
 * it. */
static const char *property(struct arena *arena, struct cel_text name,
			    bool negative)
{
	const char *text = canonical(arena, name), *pattern;

	if (text_eq(text, "Any"))
		return negative ? "\\P{Any}" : "\\p{Any}";
	if (text_eq(text, "Ascii"))
		return negative ? "\\x{80}-\\x{10ffff}" : "\\x{0}-\\x{7f}";
	if (text_eq(text, "Assigned"))
		return negative ? "\\p{Cn}" : "\\P{Cn}";
	if (text_eq(text, "Lc"))
		return negative ? "\\P{L&}" : "\\p{L&}";
	if (is_category(text))
		return arena_printf(arena, "\\%c{%s}", negative ? 'P' : 'p',
				    text);
	pattern =
		arena_printf(arena, "\\%c{sc:%s}", negative ? 'P' : 'p', text);
	if (strspn(text,
		   "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") !=
		    strlen(text) ||
	    !compiles(pattern))
		return NULL;
	return pattern;
}

/* Returns the content of a class for `\pL` or `\p{^Greek}`; sets *end. */
static const char *unicode_class(const struct re2 *re, size_t *end)
{
	size_t name = re->at + 2;
	bool braces = cel_text_at(re->text, name, "{");
	bool negative = re->text.data[re->at + 1] == 'P';

	name += braces;
	*end = name;
	if (!braces)
		*end += utf8_length(re->text.data + name, re->text.len - name);
	while (braces && *end < re->text.len && re->text.data[*end] != '}')
		++*end;
	if (*end == name || (braces && *end == re->text.len))
		return NULL;
	if (re->text.data[name] == '^') {
		negative = !negative;
		name++;
	}
	*end += braces;
	return property(re->arena, cel_part(re->text, name, *end - braces),
			negative);
}

bool re2_class_escape(struct re2 *re, bool in_class)
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
	const char *inside = NULL;
	size_t end = re->at + 2;

	if (cel_text_at(re->text, re->at, "\\p") ||
	    cel_text_at(re->text, re->at, "\\P"))
		inside = unicode_class(re, &end);
	for (size_t i = 0; !inside && i < 6; i++) {
		if (cel_text_at(re->text, re->at, perl[i][0]))
			inside = perl[i][1];
	}
	if (!inside)
		return false;
	re->at = end;
	buf_addf(re->out, in_class ? "%s" : "[%s]", inside);
	return true;
}

/* Reads `[:alpha:]` inside of a class. Returns false if Go does not have the
 * name. */
static bool posix_class(struct re2 *re, bool *found)
{
	static const char names[] =
		"alnum alpha ascii blank cntrl digit graph lower print punct "
		"space upper word xdigit";
	size_t start = re->at, name = start + 2, end;

	*found = false;
	if (!cel_text_at(re->text, start, "[:"))
		return true;
	for (end = name; end < re->text.len; end++) {
		if (cel_text_at(re->text, end, ":]"))
			break;
	}
	if (end == re->text.len)
		return true;
	*found = true;
	name += re->text.data[name] == '^';
	re->at = end + 2;
	buf_add(re->out, re->text.data + start, re->at - start);
	return name < end &&
	       text_lists(names, arena_strndup(re->arena, re->text.data + name,
					       end - name));
}

static bool class_point(struct re2 *re, unsigned *c)
{
	return peek(re) == '\\' ? re2_escape(re, c) : re2_point(re, c);
}

static bool class_range(struct re2 *re)
{
	unsigned low, high;

	if (!class_point(re, &low))
		return false;
	re2_literal(re, low);
	if (peek(re) != '-' || re->at + 1 >= re->text.len ||
	    re->text.data[re->at + 1] == ']')
		return true;
	re->at++;
	if (!class_point(re, &high) || high < low)
		return false;
	buf_addc(re->out, '-');
	re2_literal(re, high);
	return true;
}

bool re2_class(struct re2 *re)
{
	size_t first;
	bool posix;

	re->at++;
	buf_addc(re->out, '[');
	if (peek(re) == '^') {
		re->at++;
		buf_addc(re->out, '^');
	}
	first = re->at;
	while (peek(re) != ']' || re->at == first) {
		if (!posix_class(re, &posix) ||
		    (!posix && !re2_class_escape(re, true) && !class_range(re)))
			return false;
	}
	re->at++;
	buf_addc(re->out, ']');
	return true;
}
