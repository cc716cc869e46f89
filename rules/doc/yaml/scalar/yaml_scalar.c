/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The types of scalars: YAML 1.1 as go-yaml v2 implements it
 * (go.yaml.in/yaml/v2 resolve.go), followed by sigs.k8s.io/yaml's conversion to
 * JSON. The first byte of a text limits its possible types; most texts of a
 * manifest start with a letter with which only strings begin, and need no
 * further check. Dates stay strings, as in go-yaml if the target has no type.
 */
#include "yaml_scalar.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/err.h"
#include "base/text.h"

#define TAG_PREFIX "tag:yaml.org,2002:"

enum hint {
	HINT_STRING,
	HINT_WORD, /* may be in the table below */
	HINT_NUMBER,
	HINT_DOT,
};

static const uint8_t hints[256] = {
	['~'] = HINT_WORD,   ['y'] = HINT_WORD,	  ['Y'] = HINT_WORD,
	['n'] = HINT_WORD,   ['N'] = HINT_WORD,	  ['t'] = HINT_WORD,
	['T'] = HINT_WORD,   ['f'] = HINT_WORD,	  ['F'] = HINT_WORD,
	['o'] = HINT_WORD,   ['O'] = HINT_WORD,	  ['+'] = HINT_NUMBER,
	['-'] = HINT_NUMBER, ['0'] = HINT_NUMBER, ['1'] = HINT_NUMBER,
	['2'] = HINT_NUMBER, ['3'] = HINT_NUMBER, ['4'] = HINT_NUMBER,
	['5'] = HINT_NUMBER, ['6'] = HINT_NUMBER, ['7'] = HINT_NUMBER,
	['8'] = HINT_NUMBER, ['9'] = HINT_NUMBER, ['.'] = HINT_DOT,
};

enum {
	WORD_MAX = 5, /* longest spelling below */
};

/* Sorted by length, so that a text is compared only with words of its
 * length. */
static const struct {
	char text[WORD_MAX + 1];
	uint8_t kind;
	bool yes;
	double number;
} words[] = {
	{"", SCALAR_NULL, false, 0},
	{"~", SCALAR_NULL, false, 0},
	{"y", SCALAR_BOOL, true, 0},
	{"Y", SCALAR_BOOL, true, 0},
	{"n", SCALAR_BOOL, false, 0},
	{"N", SCALAR_BOOL, false, 0},
	{"on", SCALAR_BOOL, true, 0},
	{"On", SCALAR_BOOL, true, 0},
	{"ON", SCALAR_BOOL, true, 0},
	{"no", SCALAR_BOOL, false, 0},
	{"No", SCALAR_BOOL, false, 0},
	{"NO", SCALAR_BOOL, false, 0},
	{"yes", SCALAR_BOOL, true, 0},
	{"Yes", SCALAR_BOOL, true, 0},
	{"YES", SCALAR_BOOL, true, 0},
	{"off", SCALAR_BOOL, false, 0},
	{"Off", SCALAR_BOOL, false, 0},
	{"OFF", SCALAR_BOOL, false, 0},
	{"true", SCALAR_BOOL, true, 0},
	{"True", SCALAR_BOOL, true, 0},
	{"TRUE", SCALAR_BOOL, true, 0},
	{"null", SCALAR_NULL, false, 0},
	{"Null", SCALAR_NULL, false, 0},
	{"NULL", SCALAR_NULL, false, 0},
	{".nan", SCALAR_FLOAT, false, NAN},
	{".NaN", SCALAR_FLOAT, false, NAN},
	{".NAN", SCALAR_FLOAT, false, NAN},
	{".inf", SCALAR_FLOAT, false, INFINITY},
	{".Inf", SCALAR_FLOAT, false, INFINITY},
	{".INF", SCALAR_FLOAT, false, INFINITY},
	{"false", SCALAR_BOOL, false, 0},
	{"False", SCALAR_BOOL, false, 0},
	{"FALSE", SCALAR_BOOL, false, 0},
	{"+.inf", SCALAR_FLOAT, false, INFINITY},
	{"+.Inf", SCALAR_FLOAT, false, INFINITY},
	{"+.INF", SCALAR_FLOAT, false, INFINITY},
	{"-.inf", SCALAR_FLOAT, false, -INFINITY},
	{"-.Inf", SCALAR_FLOAT, false, -INFINITY},
	{"-.INF", SCALAR_FLOAT, false, -INFINITY},
};

/* Index of the first word of each length, and the end. */
static const uint8_t words_of[WORD_MAX + 2] = {
	0, 1, 6, 12, 18, 30, ARRAY_SIZE(words)};

bool scalar_may_resolve(unsigned char first)
{
	return hints[first] != HINT_STRING;
}

static bool resolve_word(const char *text, size_t len, struct scalar *scalar)
{
	if (len > WORD_MAX)
		return false;
	for (size_t i = words_of[len]; i < words_of[len + 1]; i++) {
		if (len && (words[i].text[0] != *text ||
			    memcmp(words[i].text, text, len) != 0))
			continue;
		scalar->kind = words[i].kind;
		scalar->yes = words[i].yes;
		scalar->number = words[i].number;
		return true;
	}
	return false;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int digit_value(char c)
{
	if (is_digit(c))
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

/* Parses digits of one base without a sign. Returns false for other bytes, or
 * beyond 64 bits. */
static bool parse_digits(const char *p, int base, uint64_t *value)
{
	uint64_t sum = 0;

	if (!*p)
		return false;
	for (; *p; p++) {
		int digit = digit_value(*p);

		if (digit >= base ||
		    __builtin_mul_overflow(sum, (uint64_t)base, &sum) ||
		    __builtin_add_overflow(sum, (uint64_t)digit, &sum))
			return false;
	}
	*value = sum;
	return true;
}

/* Parses like strconv.ParseInt() with base 0, then like ParseUint(). */
static bool parse_whole(const char *text, struct scalar *scalar)
{
	bool negative = *text == '-';
	bool sign = negative || *text == '+';
	const char *p = text + sign;
	int base = 10;
	uint64_t size;

	if (*p == '0' && p[1]) {
		char c = p[1] | 0x20;

		base = c == 'x' ? 16 : c == 'b' ? 2 : 8;
		p += c == 'x' || c == 'b' || c == 'o' ? 2 : 1;
	}
	if (!parse_digits(p, base, &size))
		return false;
	if (negative && size <= (uint64_t)INT64_MAX + 1) {
		scalar->kind = SCALAR_INT;
		scalar->whole = (int64_t)-size;
		return true;
	}
	if (negative || (sign && size > INT64_MAX))
		return false;
	scalar->kind = size > INT64_MAX ? SCALAR_UINT : SCALAR_INT;
	scalar->large = size;
	scalar->whole = (int64_t)size;
	return true;
}

/* Parses "0b-1" and "0b+1": go-yaml parses the text after 0b again, with its
 * sign. */
static bool parse_signed_binary(const char *text, struct scalar *scalar)
{
	bool negative;
	uint64_t size;

	if (text[0] != '0' || text[1] != 'b' ||
	    (text[2] != '-' && text[2] != '+'))
		return false;
	negative = text[2] == '-';
	if (!parse_digits(text + 3, 2, &size) ||
	    size > (uint64_t)INT64_MAX + negative)
		return false;
	scalar->kind = SCALAR_INT;
	scalar->whole = (int64_t)(negative ? -size : size);
	return true;
}

static const char *skip_digits(const char *p)
{
	while (is_digit(*p))
		p++;
	return p;
}

/* True if the text matches [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?
 * as a whole. */
static bool float_syntax(const char *p)
{
	const char *digits;

	p += *p == '-' || *p == '+';
	digits = p;
	p = skip_digits(p);
	if (*p == '.') {
		const char *fraction = p + 1;

		p = skip_digits(fraction);
		if (fraction == digits + 1 && p == fraction)
			return false;
	} else if (p == digits) {
		return false;
	}
	if (*p == 'e' || *p == 'E') {
		p++;
		p += *p == '-' || *p == '+';
		if (!is_digit(*p))
			return false;
		p = skip_digits(p);
	}
	return !*p;
}

/* Parses like Go's ParseFloat(): a number that is too large is rejected, one
 * that is too small becomes zero. */
static bool parse_float(const char *text, struct scalar *scalar)
{
	double number;

	if (!float_syntax(text))
		return false;
	number = strtod(text, NULL);
	if (isinf(number))
		return false;
	scalar->kind = SCALAR_FLOAT;
	scalar->number = number;
	return true;
}

/* Copies the text without underscores. out has at least its length. */
static void drop_underscores(char *out, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (text[i] != '_')
			*out++ = text[i];
	*out = '\0';
}

/*
 * For a text that starts with a dot: true if each underscore is between two
 * digits. go-yaml does not remove underscores from such a text, and
 * ParseFloat() accepts only these.
 */
static bool dot_underscores(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (text[i] == '_' && (!i || !is_digit(text[i - 1]) ||
				       i + 1 == len || !is_digit(text[i + 1])))
			return false;
	return true;
}

static bool parse_number(const char *text, size_t len, struct scalar *scalar)
{
	char small[128];
	char *plain = small;
	bool good;

	/* Long digit strings are rare, but exact only with all of their
	 * digits. */
	if (len >= sizeof(small))
		plain = malloc(len + 1);
	if (!plain)
		OUT_OF_MEMORY();
	drop_underscores(plain, text, len);
	if (*text == '.')
		good = dot_underscores(text, len) && parse_float(plain, scalar);
	else
		good = parse_whole(plain, scalar) ||
		       parse_float(plain, scalar) ||
		       parse_signed_binary(plain, scalar);
	if (plain != small)
		free(plain);
	return good;
}

static void resolve_plain(const char *text, size_t len, struct scalar *scalar)
{
	enum hint hint = len ? hints[(unsigned char)*text] : HINT_WORD;

	scalar->kind = SCALAR_STRING;
	if (hint == HINT_STRING || resolve_word(text, len, scalar))
		return;
	/* Numbers contain no NUL byte, but the parsers would stop at one. */
	if (hint == HINT_WORD || memchr(text, '\0', len))
		return;
	if (!parse_number(text, len, scalar))
		scalar->kind = SCALAR_STRING;
}

/* Parses up to max digits at *p as a number. Returns false if there is none. */
static bool date_field(const char **p, int max, int *value)
{
	int n = 0;

	for (*value = 0; n < max && is_digit(**p); n++)
		*value = *value * 10 + *(*p)++ - '0';
	return n > 0;
}

static bool date_days(int year, int month, int day)
{
	static const uint8_t days[] = {31, 28, 31, 30, 31, 30,
				       31, 31, 30, 31, 30, 31};
	bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

	if (month < 1 || month > 12 || day < 1)
		return false;
	return day <= days[month - 1] + (month == 2 && leap);
}

/* Parses Z, or a sign with hours:minutes of two digits each. */
static bool date_zone(const char **p)
{
	const char *z = (*p)++;
	int hours, minutes;

	if (*z == 'Z')
		return true;
	if ((*z != '+' && *z != '-') || !date_field(p, 2, &hours) ||
	    *(*p)++ != ':' || !date_field(p, 2, &minutes))
		return false;
	return *p - z == 6 && hours <= 24 && minutes < 60;
}

static bool date_clock(const char **p, bool zone)
{
	int hour, minute, second;

	if (!date_field(p, 2, &hour) || hour > 23 || *(*p)++ != ':' ||
	    !date_field(p, 2, &minute) || minute > 59 || *(*p)++ != ':' ||
	    !date_field(p, 2, &second) || second > 59)
		return false;
	if ((**p == '.' || **p == ',') && is_digit((*p)[1]))
		*p = skip_digits(*p + 1);
	return !zone || date_zone(p);
}

/* True for the forms of a date that !!timestamp accepts. */
static bool is_timestamp(const char *p)
{
	int year, month, day;

	if (skip_digits(p) != p + 4 || !date_field(&p, 4, &year) ||
	    *p++ != '-' || !date_field(&p, 2, &month) || *p++ != '-' ||
	    !date_field(&p, 2, &day) || !date_days(year, month, day))
		return false;
	if (*p == 'T' || *p == 't' || *p == ' ') {
		bool zone = *p++ != ' ';

		if (!date_clock(&p, zone))
			return false;
	}
	return !*p;
}

/* Checks the value against a tag that requires one type. */
static bool fit_tag(const char *name, const char *text, struct scalar *scalar)
{
	if (!strcmp(name, "bool"))
		return scalar->kind == SCALAR_BOOL;
	if (!strcmp(name, "null"))
		return scalar->kind == SCALAR_NULL;
	if (!strcmp(name, "int"))
		return scalar->kind == SCALAR_INT ||
		       scalar->kind == SCALAR_UINT;
	if (!strcmp(name, "timestamp"))
		return scalar->kind == SCALAR_STRING && is_timestamp(text);
	if (scalar->kind == SCALAR_INT) {
		scalar->kind = SCALAR_FLOAT;
		scalar->number = (double)scalar->whole;
	}
	return scalar->kind == SCALAR_FLOAT;
}

bool scalar_resolve(const char *text, size_t len, const char *tag,
		    struct scalar *scalar)
{
	static const char *const known[] = {"bool", "int", "float", "null",
					    "timestamp"};
	const char *name;

	if (!tag || !*tag) {
		resolve_plain(text, len, scalar);
		return true;
	}
	scalar->kind = SCALAR_STRING;
	if (!text_starts(tag, TAG_PREFIX))
		return true;
	name = tag + strlen(TAG_PREFIX);
	if (!strcmp(name, "binary"))
		scalar->kind = SCALAR_BINARY;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		if (strcmp(name, known[i]))
			continue;
		resolve_plain(text, len, scalar);
		return fit_tag(name, text, scalar);
	}
	return true;
}

const char *scalar_kind_name(enum scalar_kind kind)
{
	static const char *const names[] = {
		"null",	   "a boolean", "an integer", "an integer",
		"a float", "a string",	"a string",
	};

	return names[kind];
}

/* Returns the type that a JSON decoder gives the digits: int64 or float64. */
static enum node_type number_type(const char *digits)
{
	const char *p = digits + (*digits == '-');

	if (*skip_digits(p) || strlen(p) > 19)
		return NODE_FLOAT;
	errno = 0;
	strtoll(digits, NULL, 10);
	return errno ? NODE_FLOAT : NODE_INT;
}

/* Returns the text of an integer, or of a float as written by print(). */
static const char *number_text(struct arena *arena, const struct scalar *scalar,
			       void (*print)(double number, struct buf *out),
			       size_t *len)
{
	const char *text;
	struct buf out;
	char digits[24];
	int n;

	if (scalar->kind == SCALAR_FLOAT) {
		buf_init(&out);
		print(scalar->number, &out);
		*len = out.len;
		text = arena_strndup(arena, out.data, out.len);
		buf_release(&out);
		return text;
	}
	if (scalar->kind == SCALAR_INT)
		n = snprintf(digits, sizeof(digits), "%lld",
			     (long long)scalar->whole);
	else
		n = snprintf(digits, sizeof(digits), "%llu",
			     (unsigned long long)scalar->large);
	*len = (size_t)n;
	return arena_strndup(arena, digits, *len);
}

bool scalar_to_node(struct arena *arena, const struct scalar *scalar,
		    const char *text, size_t len, struct node *node)
{
	switch (scalar->kind) {
	case SCALAR_NULL:
		node->type = NODE_NULL;
		node->str = "null";
		node->len = 4;
		return true;
	case SCALAR_BOOL:
		node->type = NODE_BOOL;
		node->str = scalar->yes ? "true" : "false";
		node->len = scalar->yes ? 4 : 5;
		return true;
	case SCALAR_FLOAT:
		if (isnan(scalar->number) || isinf(scalar->number))
			return false;
		/* fall through */
	case SCALAR_INT:
	case SCALAR_UINT:
		node->str = number_text(arena, scalar, number_json, &len);
		node->type = (uint8_t)number_type(node->str);
		break;
	case SCALAR_STRING:
		node->type = NODE_STRING;
		node->str = arena_strndup(arena, text, len);
		break;
	case SCALAR_BINARY:
		node->type = NODE_STRING;
		node->str = scalar_base64(arena, text, &len);
		break;
	}
	node->len = (uint32_t)len;
	return node->str;
}

const char *scalar_to_key(struct arena *arena, const struct scalar *scalar,
			  const char *text, size_t *len)
{
	switch (scalar->kind) {
	case SCALAR_NULL:
	case SCALAR_UINT:
		return NULL;
	case SCALAR_BOOL:
		*len = scalar->yes ? 4 : 5;
		return scalar->yes ? "true" : "false";
	case SCALAR_INT:
	case SCALAR_FLOAT:
		return number_text(arena, scalar, number_key, len);
	case SCALAR_STRING:
		break;
	case SCALAR_BINARY:
		return scalar_base64(arena, text, len);
	}
	return arena_strndup(arena, text, *len);
}
