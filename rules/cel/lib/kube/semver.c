/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Semantic versions (apiserver pkg/cel/library/semverlib.go, which uses
 * github.com/blang/semver/v4).
 */
#include "rules/cel/lib/lib_internal.h"

#include <string.h>

#include "base/text.h"

struct semver {
	uint64_t numbers[3];
	struct cel_text pre; /* text after `-`, or empty */
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

/* Parses a number without leading zeros. */
static bool parse_number(struct cel_text text, uint64_t *out)
{
	return cel_digits(text, out) && (text.len == 1 || *text.data != '0');
}

/*
 * Returns the text before the next dot. Moves *rest past it, or sets its data
 * to NULL at the end.
 */
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

/* True if the text consists of names separated by dots. Names of builds may be
 * numbers with leading zeros. */
static bool are_names(struct cel_text rest, bool pre)
{
	uint64_t number;

	while (rest.data) {
		struct cel_text item = next_item(&rest);

		if (!item.len || !only(item, NAMES) ||
		    (pre && only(item, DIGITS) && !parse_number(item, &number)))
			return false;
	}
	return true;
}

/* Cuts off the text after a character and returns it. Its data is NULL if the
 * character does not occur. */
static struct cel_text cut_at(struct cel_text *text, char at)
{
	struct cel_text whole = *text;

	text->len = cel_text_find(whole, at);
	return text->len < whole.len ? cel_part(whole, text->len + 1, whole.len)
				     : (struct cel_text){0};
}

static bool parse(struct cel_text text, struct semver *out)
{
	struct cel_text build;

	for (int i = 0; i < 2; i++) {
		struct cel_text part = next_item(&text);

		if (!text.data || !parse_number(part, &out->numbers[i]))
			return false;
	}
	build = cut_at(&text, '+');
	out->pre = cut_at(&text, '-');
	return parse_number(text, &out->numbers[2]) &&
	       are_names(out->pre, true) && are_names(build, false);
}

/* Writes one number without its leading zeros. */
static void add_number(struct cel_text part, struct buf *out)
{
	bool stripped = part.len > 1;

	while (stripped && part.len && *part.data == '0')
		part = cel_part(part, 1, part.len);
	if (stripped && (!part.len || *part.data < '0' || *part.data > '9'))
		buf_addc(out, '0');
	buf_add(out, part.data, part.len);
}

/* Parses `v1.02` as `1.2.0`. */
static bool parse_tolerantly(struct arena *arena, struct cel_text text,
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
			return false;
		}
		add_number(part, &full);
	}
	return parse(cel_string_from(arena, &full).text, out);
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

static bool parse_args(struct cel_call *call, struct semver *out)
{
	bool tolerant = call->n > 1 && cel_is_true(call->args[1]);

	return tolerant ? parse_tolerantly(call->arena, call->args[0].text, out)
			: parse(call->args[0].text, out);
}

static struct cel_value semver(struct cel_call *call)
{
	struct semver *version = ARENA_NEW(call->arena, struct semver);

	return parse_args(call, version)
		       ? cel_opaque(&semver_type, version)
		       : cel_is_not(call, "a semantic version");
}

static struct cel_value is_semver(struct cel_call *call)
{
	struct semver version;

	return cel_bool(parse_args(call, &version));
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
