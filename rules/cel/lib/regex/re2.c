/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Translates an RE2 pattern for PCRE2: groups, repeats and assertions. Escapes
 * and classes are in re2_class.c.
 */
#include "rules/cel/lib/regex/re2.h"

#include <string.h>

#include "base/array.h"
#include "base/text.h"

enum { REPEAT_MAX = 1000, NEST_MAX = 1000 };

struct re2_group {
	unsigned weight; /* product of the repeat counts nested in the group */
	bool can_repeat;
};

struct re2_parser {
	struct re2 re;
	struct re2_group *groups; /* stack of open groups */
	size_t n, size;
	unsigned atom; /* weight of the atom to which a repeat would apply */
	bool repeated; /* the atom has a repeat already */
};

static struct re2_group *top(struct re2_parser *p)
{
	return &p->groups[p->n - 1];
}

static void open_group(struct re2_parser *p)
{
	*VEC_PUSH(p->re.arena, p->groups, p->n, p->size) =
		(struct re2_group){.weight = 1};
}

/* Records that an atom was written. */
static void atom(struct re2_parser *p, unsigned weight)
{
	p->atom = weight;
	top(p)->can_repeat = true;
	if (weight > top(p)->weight)
		top(p)->weight = weight;
}

static bool before_repeat(const struct re2 *re)
{
	return re->at < re->text.len && strchr("*+?{", re->text.data[re->at]);
}

/* Copies an assertion of len bytes, which PCRE2 reads in the same way. Before a
 * repeat, it is put into a group, because PCRE2 cannot repeat an assertion
 * itself. */
static void assertion(struct re2_parser *p, size_t len)
{
	const char *text = p->re.text.data + p->re.at;

	p->re.at += len;
	buf_addf(p->re.out, before_repeat(&p->re) ? "(?:%.*s)" : "%.*s",
		 (int)len, text);
	atom(p, 1);
}

/* Parses a literal character. */
static bool literal(struct re2_parser *p)
{
	unsigned c;

	if (!re2_point(&p->re, &c))
		return false;
	re2_literal(&p->re, c);
	atom(p, 1);
	return true;
}

/* Reads a count. Returns -1 if there is none, -2 if it is too large. Leading
 * zeros are not allowed. */
static int read_count(struct re2 *re, size_t *at)
{
	struct cel_text digits = cel_part(re->text, *at, re->text.len);
	uint64_t n;

	digits.len = cel_digits_length(digits, 0);
	*at += digits.len;
	if (!digits.len || (digits.len > 1 && *digits.data == '0'))
		return -1;
	return cel_digits(digits, &n) && n <= REPEAT_MAX ? (int)n : -2;
}

struct re2_repeat {
	int min, max; /* max is -1 for unlimited */
	size_t end;
};

/* Reads `{2}`, `{2,}` or `{2,3}` at the cursor. Returns false if the brace is a
 * literal character. */
static bool counted(struct re2 *re, struct re2_repeat *repeat)
{
	size_t at = re->at + 1;

	repeat->min = repeat->max = read_count(re, &at);
	if (repeat->min == -1)
		return false;
	if (cel_text_at(re->text, at, ",")) {
		at++;
		repeat->max = -1;
		if (!cel_text_at(re->text, at, "}")) {
			repeat->max = read_count(re, &at);
			if (repeat->max == -1)
				return false;
		}
	}
	repeat->end = at + 1;
	return cel_text_at(re->text, at, "}");
}

static bool repeat(struct re2_parser *p, struct re2_repeat r)
{
	struct re2 *re = &p->re;
	size_t start = re->at;
	int most = r.max < 0 ? r.min : r.max;

	re->at = r.end + cel_text_at(re->text, r.end, "?");
	if (p->repeated || !top(p)->can_repeat || r.min < 0 || r.max < -1 ||
	    (r.max >= 0 && r.min > r.max))
		return false;
	if (most > 0)
		p->atom *= (unsigned)most;
	if (most > 1 && p->atom > REPEAT_MAX)
		return false;
	buf_add(re->out, re->text.data + start, re->at - start);
	atom(p, p->atom);
	p->repeated = true;
	return true;
}

static bool repeat_at(struct re2_parser *p)
{
	struct re2_repeat r = {.end = p->re.at + 1};

	if (p->re.text.data[p->re.at] != '{' || counted(&p->re, &r))
		return repeat(p, r);
	p->repeated = false;
	return literal(p);
}

static void begin_group(struct re2_parser *p, size_t end)
{
	p->re.at = end;
	buf_adds(p->re.out, "(?:");
	open_group(p);
}

/* Reads `(?P<name>` or `(?<name>` and drops the name. */
static bool named_group(struct re2_parser *p, size_t name)
{
	struct re2 *re = &p->re;
	size_t end = name;

	while (end < re->text.len &&
	       (re->text.data[end] == '_' ||
		re2_is_alnum((unsigned char)re->text.data[end])))
		end++;
	if (end == name || !cel_text_at(re->text, end, ">"))
		return false;
	begin_group(p, end + 1);
	return true;
}

/* Reads flags such as `(?i)` or `(?i-s:`, which PCRE2 supports as well. */
static bool flags(struct re2_parser *p)
{
	struct re2 *re = &p->re;
	bool negative = false, flag = false;

	for (size_t at = re->at + 2; at < re->text.len; at++) {
		char c = re->text.data[at];

		if (c == '-' && !negative) {
			negative = true;
			flag = false;
		} else if (c && strchr("imsU", c)) {
			flag = true;
		} else if ((c == ':' || c == ')') && (!negative || flag)) {
			buf_add(re->out, re->text.data + re->at,
				at + 1 - re->at);
			re->at = at + 1;
			if (c == ':')
				open_group(p);
			return true;
		} else {
			return false;
		}
	}
	return false;
}

static bool open_at(struct re2_parser *p)
{
	struct re2 *re = &p->re;

	if (p->n > NEST_MAX)
		return false;
	if (cel_text_at(re->text, re->at, "(?P<"))
		return named_group(p, re->at + 4);
	if (cel_text_at(re->text, re->at, "(?<"))
		return named_group(p, re->at + 3);
	if (cel_text_at(re->text, re->at, "(?"))
		return flags(p);
	begin_group(p, re->at + 1);
	return true;
}

static bool close_at(struct re2_parser *p)
{
	unsigned weight = top(p)->weight;

	if (p->n == 1)
		return false;
	p->re.at++;
	p->n--;
	buf_addc(p->re.out, ')');
	atom(p, weight);
	return true;
}

/* Reads \Q...\E. */
static bool quoted(struct re2_parser *p)
{
	struct re2 *re = &p->re;

	re->at += 2;
	while (re->at < re->text.len && !cel_text_at(re->text, re->at, "\\E"))
		if (!literal(p))
			return false;
	if (re->at < re->text.len)
		re->at += 2;
	return true;
}

static bool backslash(struct re2_parser *p)
{
	struct re2 *re = &p->re;
	char next = re->at + 1 < re->text.len ? re->text.data[re->at + 1] : 0;
	unsigned c;

	if (next == 'Q')
		return quoted(p);
	if (next && strchr("AbBz", next)) {
		assertion(p, 2);
		return true;
	}
	atom(p, 1);
	if (re2_class_escape(re, false))
		return true;
	if (!re2_escape(re, &c))
		return false;
	re2_literal(re, c);
	return true;
}

static bool element(struct re2_parser *p)
{
	struct re2 *re = &p->re;

	switch (re->text.data[re->at]) {
	case '(':
		return open_at(p);
	case ')':
		return close_at(p);
	case '|':
		re->at++;
		buf_addc(re->out, '|');
		top(p)->can_repeat = false;
		return true;
	case '^':
	case '$':
		assertion(p, 1);
		return true;
	case '.':
		re->at++;
		buf_addc(re->out, '.');
		atom(p, 1);
		return true;
	case '[':
		atom(p, 1);
		return re2_class(re);
	case '\\':
		return backslash(p);
	default:
		return literal(p);
	}
}

bool cel_re2_translate(struct arena *arena, struct cel_text pattern,
		       struct buf *out)
{
	struct re2_parser p = {
		.re = {.arena = arena, .text = pattern, .out = out},
	};
	bool valid = true;

	open_group(&p);
	while (valid && p.re.at < pattern.len) {
		if (before_repeat(&p.re)) {
			valid = repeat_at(&p);
			continue;
		}
		p.repeated = false;
		valid = element(&p);
	}
	return valid && p.n == 1;
}
