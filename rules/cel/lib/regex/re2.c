/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/cel/lib/regex/re2.h"

#include <string.h>

#include "base/text.h"
#include "base/vec.h"

enum { REPEAT_MAX = 1000, NEST_MAX = 1000 };

struct re2_group {
	unsigned weight; /* product of counts nested in it */
	bool can_repeat;
};

struct re2_parser {
	struct re2 re;
	struct re2_group *groups; /* the last is the one that is open */
	size_t n, size;
	unsigned atom;	    /* weight of what a repeat would repeat */
	size_t last_repeat; /* where the one just before begins, or NONE */
};

static const size_t NONE = (size_t)-1;

static struct re2_group *top(struct re2_parser *p)
{
	return &p->groups[p->n - 1];
}

static void open_group(struct re2_parser *p)
{
	*VEC_PUSH(p->re.arena, p->groups, p->n, p->size) =
		(struct re2_group){.weight = 1};
}

/* An atom was written. */
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

/* len bytes that PCRE2 has too. It repeats no assertion, a group with one in it
 * very well. */
static void assertion(struct re2_parser *p, size_t len)
{
	const char *text = p->re.text.data + p->re.at;

	p->re.at += len;
	buf_addf(p->re.out, before_repeat(&p->re) ? "(?:%.*s)" : "%.*s",
		 (int)len, text);
	atom(p, 1);
}

/* A character that stands for itself. */
static const char *literal(struct re2_parser *p)
{
	unsigned c;
	const char *problem = re2_point(&p->re, &c);

	if (problem)
		return problem;
	re2_literal(&p->re, c);
	atom(p, 1);
	return NULL;
}

/* -1: none; -2: too large. No leading zeros. */
static int count(struct re2 *re, size_t *at)
{
	struct cel_text digits = cel_part(re->text, *at, re->text.len);
	uint64_t n;

	digits.len = cel_digits_length(digits, 0);
	*at += digits.len;
	if (!digits.len || (digits.len > 1 && *digits.data == '0'))
		return -1;
	return cel_digits(digits, &n) || n > REPEAT_MAX ? -2 : (int)n;
}

struct re2_repeat {
	int min, max; /* max -1: no limit */
	size_t end;
};

/* `{2}`, `{2,}`, `{2,3}` at the cursor; false: the brace is a literal. */
static bool counted(struct re2 *re, struct re2_repeat *repeat)
{
	size_t at = re->at + 1;

	repeat->min = repeat->max = count(re, &at);
	if (repeat->min == -1)
		return false;
	if (cel_text_at(re->text, at, ",")) {
		at++;
		repeat->max = -1;
		if (!cel_text_at(re->text, at, "}")) {
			repeat->max = count(re, &at);
			if (repeat->max == -1)
				return false;
		}
	}
	repeat->end = at + 1;
	return cel_text_at(re->text, at, "}");
}

static const char *repeat(struct re2_parser *p, struct re2_repeat r)
{
	struct re2 *re = &p->re;
	size_t start = re->at;
	int most = r.max < 0 ? r.min : r.max;

	re->at = r.end + cel_text_at(re->text, r.end, "?");
	if (re->text.data[start] == '{' &&
	    (r.min < 0 || r.max < -1 || r.min > REPEAT_MAX ||
	     r.max > REPEAT_MAX || (r.max >= 0 && r.min > r.max)))
		return re2_error(re, "invalid repeat count", start, r.end);
	if (p->last_repeat != NONE)
		return re2_error(re, "invalid nested repetition operator",
				 p->last_repeat, re->at);
	if (!top(p)->can_repeat)
		return re2_error(re, "missing argument to repetition operator",
				 start, re->at);
	if (most > 0)
		p->atom *= (unsigned)most;
	if (most > 1 && p->atom > REPEAT_MAX)
		return re2_error(re, "invalid repeat count", start, re->at);
	buf_add(re->out, re->text.data + start, re->at - start);
	atom(p, p->atom);
	p->last_repeat = start;
	return NULL;
}

static const char *repeat_at(struct re2_parser *p)
{
	struct re2_repeat r = {.end = p->re.at + 1};

	if (p->re.text.data[p->re.at] != '{' || counted(&p->re, &r))
		return repeat(p, r);
	return literal(p);
}

/* `(?P<name>`, `(?<name>`: the name is not needed. */
static const char *named_group(struct re2_parser *p, size_t name)
{
	struct re2 *re = &p->re;
	size_t end = name;
	bool valid = true;

	for (; end < re->text.len && re->text.data[end] != '>'; end++)
		valid &= re->text.data[end] == '_' ||
			 re2_is_alnum((unsigned char)re->text.data[end]);
	if (end == re->text.len)
		return re2_error(re, "invalid named capture", re->at, end);
	if (end == name || !valid)
		return re2_error(re, "invalid named capture", re->at, end + 1);
	re->at = end + 1;
	buf_adds(re->out, "(?:");
	open_group(p);
	return NULL;
}

/* `(?i)`, `(?i-s:`: PCRE2 has them too. */
static const char *flags(struct re2_parser *p)
{
	struct re2 *re = &p->re;
	bool negative = false, flag = false;
	size_t at = re->at + 2;

	for (; at < re->text.len; at++) {
		char c = re->text.data[at];

		if (c == '-' && !negative) {
			negative = true;
			flag = false;
		} else if (strchr("imsU", c) && c) {
			flag = true;
		} else if ((c == ':' || c == ')') && (!negative || flag)) {
			buf_add(re->out, re->text.data + re->at,
				at + 1 - re->at);
			re->at = at + 1;
			if (c == ':')
				open_group(p);
			return NULL;
		} else {
			at += utf8_length(re->text.data + at,
					  re->text.len - at);
			break;
		}
	}
	return re2_error(re, "invalid or unsupported Perl syntax", re->at, at);
}

static const char *open_at(struct re2_parser *p)
{
	struct re2 *re = &p->re;

	if (p->n > NEST_MAX)
		return re2_error(re, "expression nests too deeply", 0,
				 re->text.len);
	if (cel_text_at(re->text, re->at, "(?P<") && re->at + 4 < re->text.len)
		return named_group(p, re->at + 4);
	if (cel_text_at(re->text, re->at, "(?<"))
		return named_group(p, re->at + 3);
	if (cel_text_at(re->text, re->at, "(?"))
		return flags(p);
	re->at++;
	buf_adds(re->out, "(?:");
	open_group(p);
	return NULL;
}

static const char *close_at(struct re2_parser *p)
{
	unsigned weight = top(p)->weight;

	if (p->n == 1)
		return re2_error(&p->re, "unexpected )", 0, p->re.text.len);
	p->re.at++;
	p->n--;
	buf_addc(p->re.out, ')');
	atom(p, weight);
	return NULL;
}

/* \Q...\E */
static const char *quoted(struct re2_parser *p)
{
	struct re2 *re = &p->re;
	const char *problem = NULL;

	re->at += 2;
	while (!problem && re->at < re->text.len &&
	       !cel_text_at(re->text, re->at, "\\E"))
		problem = literal(p);
	if (!problem && re->at < re->text.len)
		re->at += 2;
	return problem;
}

static const char *backslash(struct re2_parser *p)
{
	struct re2 *re = &p->re;
	const char *problem;
	bool class = false;
	unsigned c;

	switch (re->at + 1 < re->text.len ? re->text.data[re->at + 1] : 0) {
	case 'A':
	case 'b':
	case 'B':
	case 'z':
		assertion(p, 2);
		return NULL;
	case 'C':
		return re2_error(re, "invalid escape sequence", re->at,
				 re->at + 2);
	case 'Q':
		return quoted(p);
	default:
		break;
	}
	problem = re2_class_escape(re, false, &class);
	if (!problem && !class) {
		problem = re2_escape(re, &c);
		if (!problem)
			re2_literal(re, c);
	}
	atom(p, 1);
	return problem;
}

static const char *element(struct re2_parser *p)
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
		return NULL;
	case '^':
	case '$':
		assertion(p, 1);
		return NULL;
	case '.':
		re->at++;
		buf_addc(re->out, '.');
		atom(p, 1);
		return NULL;
	case '[':
		atom(p, 1);
		return re2_class(re);
	case '\\':
		return backslash(p);
	default:
		return literal(p);
	}
}

const char *cel_re2_translate(struct arena *arena, struct cel_text pattern,
			      struct buf *out)
{
	struct re2_parser p = {
		.re = {.arena = arena, .text = pattern, .out = out},
		.last_repeat = NONE,
	};
	const char *problem = NULL;

	open_group(&p);
	while (!problem && p.re.at < pattern.len) {
		if (before_repeat(&p.re)) {
			size_t last = p.last_repeat;

			problem = repeat_at(&p);
			if (p.last_repeat == last)
				p.last_repeat = NONE;
			continue;
		}
		problem = element(&p);
		p.last_repeat = NONE;
	}
	if (!problem && p.n > 1)
		problem = re2_error(&p.re, "missing closing )", 0, pattern.len);
	return problem;
}
