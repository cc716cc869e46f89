/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Semantic versions (apiserver pkg/cel/library/semverlib.go, over
 * github.com/blang/semver/v4, whose messages these are).
 */
#include "rules/cel/lib/lib_internal.h"

#include <string.h>

#include "base/text.h"

struct semver {
	uint64_t numbers[3];
	struct cel_text pre; /* behind `-`, or empty */
};

static const char *const names[] = {"major", "minor", "patch"};
static const char DIGITS[] = "0123456789";
static const char NAMES[] =
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-0123456789";

static bool only(struct cel_text text, const char *set)
{
	for (size_t i = 0; i < text.len; i++) {
		if (!text.data[i] || !strchr(set, text.data[i]))
			return false;
	}
	return true;
}

/* strconv.ParseUint; NULL, or its message. */
static const char *parse_number(struct arena *arena, struct cel_text text,
				uint64_t *out)
{
	const char *problem = cel_digits(text, out);

	if (!problem)
		return NULL;
	return arena_printf(arena, "strconv.ParseUint: parsing %s: %s",
			    cel_quoted(arena, text), problem);
}

static const char *parse_part(struct arena *arena, struct cel_text text,
			      const char *name, uint64_t *out)
{
	if (!only(text, DIGITS))
		return arena_printf(arena,
				    "Invalid character(s) found in %s number "
				    "%s",
				    name, cel_quoted(arena, text));
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
	if (text.len > 1 && *text.data == '0')
		return arena_printf(arena,
				    "%c%s number must not contain leading "
				    "zeroes %s",
				    *name & ~0x20, name + 1,
				    cel_quoted(arena, text));
	return parse_number(arena, text, out);
}

/* What is before the next dot; *rest moves behind it, or to NULL at the end. */
static struct cel_text next_item(struct cel_text *rest)
{
	size_t dot = cel_text_find(*rest, '.');
	struct cel_text item = cel_part(*rest, 0, dot);

	if (dot == rest->len)
		rest->data = NULL;
	else
		*rest = cel_part(*rest, dot + 1, rest->len);
	return item;
}

/* Names with dots between. Those of a build may be numbers of any form. */
static const char *check_names(struct arena *arena, struct cel_text rest,
			       bool pre)
{
	const char *problem = NULL;
	uint64_t number;

	while (rest.data && !problem) {
		struct cel_text item = next_item(&rest);

		if (!item.len)
			return pre ? "Prerelease is empty"
				   : "Build meta data is empty";
		if (!only(item, NAMES))
			return arena_printf(arena,
					    "Invalid character(s) found in %s "
					    "%s",
					    pre ? "prerelease"
						: "build meta data",
					    cel_quoted(arena, item));
		if (!pre || !only(item, DIGITS))
			continue;
		if (item.len > 1 && *item.data == '0')
			return arena_printf(arena,
					    "Numeric PreRelease version must "
					    "not contain leading zeroes %s",
					    cel_quoted(arena, item));
		problem = parse_number(arena, item, &number);
	}
	return problem;
}

static const char *parse(struct arena *arena, struct cel_text text,
			 struct semver *out)
{
	size_t plus, dash;
	struct cel_text build = {0};
	const char *problem = NULL;

	memset(out, 0, sizeof(*out));
	if (!text.len)
		return "Version string empty";
	plus = cel_text_find(text, '.');
	if (plus == text.len ||
	    cel_text_find(cel_part(text, plus + 1, text.len), '.') ==
		    text.len - plus - 1)
		return "No Major.Minor.Patch elements found";
	for (int i = 0; i < 2 && !problem; i++)
		problem = parse_part(arena, next_item(&text), names[i],
				     &out->numbers[i]);
	plus = cel_text_find(text, '+');
	if (plus < text.len)
		build = cel_part(text, plus + 1, text.len);
	text.len = plus;
	dash = cel_text_find(text, '-');
	if (dash < text.len)
		out->pre = cel_part(text, dash + 1, text.len);
	text.len = dash;
	if (!problem)
		problem = parse_part(arena, text, names[2], &out->numbers[2]);
	if (!problem)
		problem = check_names(arena, out->pre, true);
	return problem ? problem : check_names(arena, build, false);
}

/* One number, without leading zeros. */
static void add_number(struct cel_text part, struct buf *out)
{
	bool stripped = part.len > 1;

	while (stripped && part.len && *part.data == '0')
		part = cel_part(part, 1, part.len);
	if (stripped && (!part.len || *part.data < '0' || *part.data > '9'))
		buf_addc(out, '0');
	buf_add(out, part.data, part.len);
}

/* `v1.02` as `1.2.0`. */
static const char *parse_tolerantly(struct arena *arena, struct cel_text text,
				    struct semver *out)
{
	struct cel_text part;
	struct buf full;

	if (cel_text_at(text, 0, "v"))
		text = cel_part(text, 1, text.len);
	buf_init(&full);
	for (int i = 0; i < 3; i++) {
		if (i)
			buf_addc(&full, '.');
		if (!text.data) {
			buf_addc(&full, '0');
			continue;
		}
		part = text;
		if (i < 2)
			part = next_item(&text);
		if (i < 2 && !text.data &&
		    (cel_text_find(part, '+') < part.len ||
		     cel_text_find(part, '-') < part.len)) {
			buf_release(&full);
			return "short version cannot contain PreRelease/Build "
			       "meta data";
		}
		add_number(part, &full);
	}
	return parse(arena, cel_string_from(arena, &full).text, out);
}

static int compare_items(struct cel_text a, struct cel_text b)
{
	bool anum = only(a, DIGITS), bnum = only(b, DIGITS);
	int order;

	if (anum != bnum)
		return anum ? -1 : 1;
	if (anum && a.len != b.len)
		return a.len < b.len ? -1 : 1;
	cel_compare(cel_stringn(a.data, a.len), cel_stringn(b.data, b.len),
		    &order);
	return order;
}

static int compare_pre(struct cel_text a, struct cel_text b)
{
	int order = 0;

	if (!a.data || !b.data)
		return !a.data - !b.data;
	while (!order && a.data && b.data)
		order = compare_items(next_item(&a), next_item(&b));
	return order ? order : (a.data != NULL) - (b.data != NULL);
}

static int compare(const struct semver *a, const struct semver *b)
{
	for (int i = 0; i < 3; i++) {
		if (a->numbers[i] != b->numbers[i])
			return a->numbers[i] < b->numbers[i] ? -1 : 1;
	}
	return compare_pre(a->pre, b->pre);
}

static bool equal(const void *a, const void *b)
{
	return compare(a, b) == 0;
}

static const struct cel_opaque_type semver_type = {
	.type = {.kind = CEL_OPAQUE, .name = "kubernetes.Semver"},
	.equal = equal};

static const char *parse_args(struct cel_call *call, struct semver *out)
{
	bool tolerant = call->n > 1 && cel_is_true(call->args[1]);

	return (tolerant ? parse_tolerantly : parse)(call->arena,
						     call->args[0].text, out);
}

static struct cel_value semver(struct cel_call *call)
{
	struct semver *version = ARENA_NEW(call->arena, struct semver);
	const char *problem = parse_args(call, version);

	return problem ? cel_error(call->arena, "%s", problem)
		       : cel_opaque(&semver_type, version);
}

static struct cel_value is_semver(struct cel_call *call)
{
	struct semver version;

	return cel_bool(!parse_args(call, &version));
}

static const struct semver *semver_of(const struct cel_call *call, int i)
{
	return call->args[i].opaque.data;
}

static struct cel_value number(struct cel_call *call)
{
	int i = 0;

	while (i < 2 && !text_eq(call->overload->name, names[i]))
		i++;
	return cel_int((int64_t)semver_of(call, 0)->numbers[i]);
}

static struct cel_value compare_to(struct cel_call *call)
{
	return cel_order(call, compare(semver_of(call, 0), semver_of(call, 1)));
}

#define S "kubernetes.Semver"

const struct cel_overload cel_semver_library[] = {
	{"semver", "(string) " S, semver, cel_cost_traverse},
	{"semver", "(string, bool) " S, semver, cel_cost_traverse},
	{"isSemver", "(string) bool", is_semver, cel_cost_traverse},
	{"isSemver", "(string, bool) bool", is_semver, cel_cost_traverse},
	{"major", S ".() int", number, NULL},
	{"minor", S ".() int", number, NULL},
	{"patch", S ".() int", number, NULL},
	{"isGreaterThan", S ".(" S ") bool", compare_to, NULL},
	{"isLessThan", S ".(" S ") bool", compare_to, NULL},
	{"compareTo", S ".(" S ") int", compare_to, NULL},
	{0},
};
