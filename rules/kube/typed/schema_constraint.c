/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks values against the constraints of operators' definitions in
 * data/custom_types.tsv, as the API server does (k8s.io/kube-openapi
 * pkg/validation): lengths in code points, numbers of items and keys, patterns
 * that match anywhere in the text, and times of RFC 3339.
 */
#include "native.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"

enum { LONGEST_SHOWN = 64 };

void constraint_bounds(const char *argument, int64_t *least, int64_t *most)
{
	char *end;

	*least = strtoll(argument, &end, 10);
	if (end == argument) {
		*least = INT64_MIN;
		end++; /* the `-` */
	}
	argument = end + strspn(end, " ");
	*most = strtoll(argument, &end, 10);
	if (end == argument)
		*most = INT64_MAX;
}

const char *constraint_label(struct constraint_check *check,
			     const struct native_constraint *constraint)
{
	return arena_printf(check->arena,
			    constraint->items ? "each item of `%s`" : "`%s`",
			    constraint->field);
}

static void found(struct constraint_check *check, const struct node *value,
		  const struct native_constraint *constraint,
		  const char *wanted, const char *instead)
{
	check->found(check, value,
		     arena_printf(check->arena, "%s must %s, not %s",
				  constraint_label(check, constraint), wanted,
				  instead));
}

/* Checks a number of characters, items or keys. */
static void check_size(struct constraint_check *check, const struct node *value,
		       const struct native_constraint *constraint, size_t size,
		       const char *unit)
{
	int64_t least, most, bound, n = (int64_t)size;

	constraint_bounds(constraint->argument, &least, &most);
	if ((n >= least || check->partial) && n <= most)
		return;
	bound = n < least ? least : most;
	found(check, value, constraint,
	      arena_printf(check->arena, "have at %s %" PRId64 " %s%s",
			   n < least ? "least" : "most", bound, unit,
			   bound == 1 ? "" : "s"),
	      arena_printf(check->arena, "%" PRId64, n));
}

/* Returns the pattern, or words for a common one. */
static const char *pattern_text(struct arena *arena, const char *pattern)
{
#define LABEL_PATTERN "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
	static const struct {
		const char *pattern, *text;
	} common[] = {
		{"^" LABEL_PATTERN "$",
		 "be lowercase letters, digits and `-`, with a letter or digit "
		 "at both ends"},
		{"^" LABEL_PATTERN "(\\." LABEL_PATTERN ")*$",
		 "be lowercase letters, digits, `-` and `.`, with a letter or "
		 "digit at both ends of each part"},
		{"^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|"
		 "[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|"
		 "(\\.[0-9]+))))?$",
		 "be a quantity such as `500m` or `2Gi`"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(common); i++)
		if (!strcmp(pattern, common[i].pattern))
			return common[i].text;
	return arena_printf(arena, "match `%s`", pattern);
}

static bool is_digits(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isdigit((unsigned char)s[i]))
			return false;
	return true;
}

/* Reads a number of two digits up to most; returns -1 for another text. */
static int two_digits(const char *s, int most)
{
	int n = is_digits(s, 2) ? (s[0] - '0') * 10 + s[1] - '0' : -1;

	return n > most ? -1 : n;
}

/* True for "2026-01-31". */
static bool is_date(const char *s)
{
	static const int days[] = {31, 29, 31, 30, 31, 30,
				   31, 31, 30, 31, 30, 31};
	int month, day, year;

	if (strlen(s) < sizeof("2026-01-31") - 1 || !is_digits(s, 4) ||
	    s[4] != '-' || s[7] != '-')
		return false;
	year = atoi(s);
	month = two_digits(s + 5, 12);
	day = two_digits(s + 8, 31);
	if (month < 1 || day < 1 || day > days[month - 1])
		return false;
	return month != 2 || day < 29 ||
	       (year % 4 == 0 && (year % 100 || year % 400 == 0));
}

/* True for a time of RFC 3339, as strfmt.IsDateTime reads it: the hour of an
 * offset may be any, and the seconds may not be 60. */
static bool is_time(const char *s)
{
	if (!is_date(s) || tolower((unsigned char)s[10]) != 't')
		return false;
	s += sizeof("2026-01-31T") - 1;
	if (strlen(s) < sizeof("00:00:00Z") - 1 || two_digits(s, 23) < 0 ||
	    s[2] != ':' || two_digits(s + 3, 59) < 0 || s[5] != ':' ||
	    two_digits(s + 6, 59) < 0)
		return false;
	s += 8;
	if (strlen(s) > 1 && isdigit((unsigned char)s[1]) && *s != '+' &&
	    *s != '-')
		s += 1 + strspn(s + 1, "0123456789");
	if (tolower((unsigned char)*s) == 'z')
		return !s[1];
	return (*s == '+' || *s == '-') && strlen(s) == 6 &&
	       is_digits(s + 1, 2) && s[3] == ':' && is_digits(s + 4, 2);
}

static void check_string(struct constraint_check *check,
			 const struct node *value,
			 const struct native_constraint *constraint)
{
	const char *wanted = "be a time such as `2026-01-31T00:00:00Z`";

	if (value->type != NODE_STRING || constraint_is_filled_in(value->str))
		return;
	if (constraint->kind == CONSTRAINT_LENGTH) {
		check_size(check, value, constraint,
			   utf8_count(value->str, value->len), "character");
		return;
	}
	if (constraint->kind == CONSTRAINT_PATTERN) {
		if (!check->mismatches(check, constraint->argument, value))
			return;
		wanted = pattern_text(check->arena, constraint->argument);
	} else if (is_time(value->str)) {
		return;
	}
	found(check, value, constraint, wanted,
	      !value->len ? "empty"
	      : value->len > LONGEST_SHOWN
		      ? "this text"
		      : arena_printf(check->arena, "`%s`", value->str));
}

static bool is_zero(const struct node *value)
{
	int64_t n;

	if (value->type == NODE_INT || value->type == NODE_FLOAT)
		return node_int(value, &n) && !n;
	return !value->len;
}

void constraint_check_schema(struct constraint_check *check,
			     const struct node *value,
			     const struct native_constraint *constraint)
{
	if (constraint->zero && is_zero(value))
		return;
	switch (constraint->kind) {
	case CONSTRAINT_ITEMS:
		if (node_is_seq(value))
			check_size(check, value, constraint, node_count(value),
				   "item");
		return;
	case CONSTRAINT_KEYS:
		if (node_is_map(value))
			check_size(check, value, constraint, node_count(value),
				   "key");
		return;
	default:
		check_string(check, value, constraint);
	}
}
