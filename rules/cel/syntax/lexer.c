/* SPDX-License-Identifier: Apache-2.0 */
/* Splits a text into tokens. A scan_*() function returns the length of the
 * token of its kind at s, or 0. */
#include "parser.h"

#include <string.h>

#include "base/array.h"
#include "base/text.h"

/* The text from a position on. NUL bytes follow its end. */
struct cursor {
	const char *s;
	size_t n;
};

static char byte(struct cursor c, size_t i)
{
	return i < c.n ? c.s[i] : '\0';
}

static struct cursor behind(struct cursor c, size_t i)
{
	return (struct cursor){c.s + i, c.n - i};
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static size_t run(struct cursor c, size_t i, bool (*is)(char))
{
	while (i < c.n && is(c.s[i]))
		i++;
	return i;
}

/* --- numbers ------------------------------------------------------------- */

/* Returns the end of an exponent that begins at i, else i. */
static size_t exponent(struct cursor c, size_t i)
{
	size_t digits = i + 1;

	if (byte(c, i) != 'e' && byte(c, i) != 'E')
		return i;
	if (byte(c, digits) == '+' || byte(c, digits) == '-')
		digits++;
	return is_digit(byte(c, digits)) ? run(c, digits, is_digit) : i;
}

static size_t scan_number(struct cursor c, int *kind)
{
	size_t whole = run(c, 0, is_digit), end = whole;

	if (byte(c, 0) == '0' && byte(c, 1) == 'x' && is_hex(byte(c, 2))) {
		end = run(c, 2, is_hex);
	} else {
		if (byte(c, whole) == '.' && is_digit(byte(c, whole + 1)))
			end = run(c, whole + 1, is_digit);
		end = exponent(c, end);
		if (end != whole) {
			*kind = TOKEN_DOUBLE;
			return end;
		}
	}
	*kind = TOKEN_INT;
	if (end && (byte(c, end) == 'u' || byte(c, end) == 'U')) {
		*kind = TOKEN_UINT;
		end++;
	}
	return end;
}

/* --- strings ------------------------------------------------------------- */

static bool at_quotes(struct cursor c, size_t i, char quote, size_t quotes)
{
	for (size_t k = 0; k < quotes; k++)
		if (byte(c, i + k) != quote)
			return false;
	return true;
}

/* Scans a literal that begins with one or three quotes. */
static size_t quoted(struct cursor c, size_t quotes, bool raw)
{
	char quote = byte(c, 0);

	for (size_t i = quotes; i < c.n; i++) {
		if (at_quotes(c, i, quote, quotes))
			return i + quotes;
		if (quotes == 1 && (c.s[i] == '\n' || c.s[i] == '\r'))
			return 0;
		/* cel_literal() checks the complete escape. */
		if (c.s[i] == '\\' && !raw)
			i++;
	}
	return 0;
}

static size_t scan_string(struct cursor c, int *kind)
{
	bool bytes = byte(c, 0) == 'b' || byte(c, 0) == 'B';
	size_t prefix = bytes, len = 0;
	bool raw = byte(c, prefix) == 'r' || byte(c, prefix) == 'R';
	char quote;

	prefix += raw;
	quote = byte(c, prefix);
	if (quote != '"' && quote != '\'')
		return 0;
	c = behind(c, prefix);
	if (at_quotes(c, 0, quote, 3))
		len = quoted(c, 3, raw);
	if (!len)
		len = quoted(c, 1, raw);
	*kind = bytes ? TOKEN_BYTES : TOKEN_STRING;
	return len ? prefix + len : 0;
}

/* --- names and operators ------------------------------------------------- */

static bool is_name(char c)
{
	return is_letter(c) || is_digit(c);
}

static size_t scan_name(struct cursor c, int *kind)
{
	static const struct {
		const char *word;
		int kind;
	} words[] = {{"true", TOKEN_TRUE},
		     {"false", TOKEN_FALSE},
		     {"null", TOKEN_NULL},
		     {"in", TOKEN_IN}};
	/* names in templates of macros begin with '@' */
	size_t at = byte(c, 0) == '@';
	size_t len = is_letter(byte(c, at)) ? run(c, at, is_name) : 0;

	*kind = TOKEN_IDENT;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strlen(words[i].word) == len &&
		    !memcmp(words[i].word, c.s, len))
			*kind = words[i].kind;
	return len;
}

static bool is_escaped(char c)
{
	return is_name(c) || c == '.' || c == '-' || c == '/' || c == ' ';
}

static size_t scan_escaped(struct cursor c)
{
	size_t end = byte(c, 0) == '`' ? run(c, 1, is_escaped) : 0;

	return end > 1 && byte(c, end) == '`' ? end + 1 : 0;
}

static size_t scan_symbol(struct cursor c, int *kind)
{
	static const struct {
		char text[3];
		int kind;
	} two[] = {{"==", TOKEN_EQ}, {"!=", TOKEN_NE},	{"<=", TOKEN_LE},
		   {">=", TOKEN_GE}, {"&&", TOKEN_AND}, {"||", TOKEN_OR}};

	for (size_t i = 0; i < ARRAY_SIZE(two); i++) {
		*kind = two[i].kind;
		if (byte(c, 0) == two[i].text[0] &&
		    byte(c, 1) == two[i].text[1])
			return 2;
	}
	*kind = (unsigned char)byte(c, 0);
	return *kind && strchr("<>()[]{}.,-!?:+*/%", *kind) ? 1 : 0;
}

static size_t scan(struct cursor c, int *kind)
{
	size_t len = 0;

	if (is_digit(byte(c, 0)) || (byte(c, 0) == '.' && is_digit(byte(c, 1))))
		return scan_number(c, kind);
	if ((len = scan_string(c, kind)) || (len = scan_name(c, kind)))
		return len;
	if ((len = scan_escaped(c)))
		*kind = TOKEN_ESCAPED;
	return len ? len : scan_symbol(c, kind);
}

static size_t blanks(struct cursor c)
{
	size_t i = 0;

	for (;;) {
		if (byte(c, i) && strchr(" \t\r\n\f", c.s[i])) {
			i++;
		} else if (byte(c, i) == '/' && byte(c, i + 1) == '/') {
			while (i < c.n && c.s[i] != '\n')
				i++;
		} else {
			return i;
		}
	}
}

struct cel_token cel_lex(const char *text, size_t len, size_t at)
{
	struct cursor c = {text + at, len - at};
	struct cel_token token = {0};
	size_t n;

	at += blanks(c);
	c = (struct cursor){text + at, len - at};
	token.start = token.end = (uint32_t)at;
	if (!c.n)
		return token;
	n = scan(c, &token.kind);
	if (!n) {
		token.kind = TOKEN_ERROR;
		n = utf8_length(c.s, c.n);
	}
	token.end = (uint32_t)(at + n);
	return token;
}
