/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strings: the standard functions and version 2 of cel-go's extension
 * (ext/strings.go). Positions count code points. Searches compare bytes, which
 * is correct because in UTF-8 no character contains the bytes of another.
 */
#include "rules/cel/eval/eval_internal.h"
#include "rules/cel/lib/lib_internal.h"

#include <string.h>

#include "base/array.h"
#include "base/text.h"

static const char *find_part(struct cel_text text, size_t from,
			     struct cel_text part)
{
	return memmem(text.data + from, text.len - from, part.data, part.len);
}

/* Returns the number of bytes of the first n code points; n is at most their
 * number. */
static size_t bytes_of(struct cel_text text, size_t n)
{
	size_t at = 0;

	while (n--)
		at += utf8_length(text.data + at, text.len - at);
	return at;
}

static struct cel_value out_of_range(struct cel_call *call, int64_t index)
{
	return cel_error(call->arena, "index out of range: %lld",
			 (long long)index);
}

static bool is_within(int64_t index, struct cel_text text)
{
	return index >= 0 && (uint64_t)index <= cel_text_size(text);
}

static struct cel_value contains(struct cel_call *call)
{
	return cel_bool(find_part(call->args[0].text, 0, call->args[1].text));
}

static uint64_t contains_cost(const struct cel_call *call,
			      struct cel_value result)
{
	return cel_cost_share(cel_cost_size(call->args[0]), 0.1) *
	       cel_cost_share(cel_cost_size(call->args[1]), 0.1);
}

static struct cel_value starts_with(struct cel_call *call)
{
	struct cel_text a = call->args[0].text, b = call->args[1].text;

	return cel_bool(a.len >= b.len && memcmp(a.data, b.data, b.len) == 0);
}

static struct cel_value ends_with(struct cel_call *call)
{
	struct cel_text a = call->args[0].text, b = call->args[1].text;

	return cel_bool(a.len >= b.len &&
			memcmp(a.data + a.len - b.len, b.data, b.len) == 0);
}

static struct cel_value char_at(struct cel_call *call)
{
	struct cel_text text = call->args[0].text;
	int64_t index = call->args[1].integer;
	size_t at;

	if (!is_within(index, text))
		return out_of_range(call, index);
	at = bytes_of(text, (size_t)index);
	return cel_string_part(text, at,
			       at + utf8_length(text.data + at, text.len - at));
}

static struct cel_value index_of(struct cel_call *call)
{
	struct cel_text text = call->args[0].text, part = call->args[1].text;
	int64_t from = call->n > 2 ? call->args[2].integer : 0;
	const char *at;

	if (!part.len)
		return cel_int(from);
	if (from < 0)
		return out_of_range(call, from);
	if (!is_within(from, text))
		return cel_int(-1);
	at = find_part(text, bytes_of(text, (size_t)from), part);
	return cel_int(
		at ? (int64_t)utf8_count(text.data, (size_t)(at - text.data))
		   : -1);
}

/* Returns the number of code points before the last occurrence at or before
 * byte `at`, or -1. */
static int64_t find_last(struct cel_text text, size_t at, struct cel_text part)
{
	if (part.len > text.len)
		return -1;
	if (at > text.len - part.len)
		at = text.len - part.len;
	for (;; at--) {
		if (memcmp(text.data + at, part.data, part.len) == 0)
			return (int64_t)utf8_count(text.data, at);
		if (!at)
			return -1;
	}
}

static struct cel_value last_index_of(struct cel_call *call)
{
	struct cel_text text = call->args[0].text, part = call->args[1].text;
	int64_t size = (int64_t)cel_text_size(text);
	int64_t from = call->n > 2 ? call->args[2].integer : size - 1;

	if (!part.len)
		return cel_int(call->n > 2 ? from : size);
	if (call->n == 2 && text.len < part.len)
		return cel_int(-1);
	if (from < 0)
		return out_of_range(call, from);
	if (from >= size)
		return cel_int(-1);
	return cel_int(find_last(text, bytes_of(text, (size_t)from), part));
}

/* Kubernetes counts bytes for these functions, and rounds down. */
static uint64_t index_cost(const struct cel_call *call, struct cel_value result)
{
	if (!cel_is(call->args[0], CEL_STRING))
		return 1;
	return (uint64_t)((double)call->args[0].text.len * 0.1);
}

/* Implements lowerAscii() and upperAscii(). */
static struct cel_value with_case(struct cel_call *call)
{
	char first = text_eq(call->overload->name, "lowerAscii") ? 'A' : 'a';
	struct cel_text text = call->args[0].text;
	char *copy = arena_strndup(call->arena, text.data, text.len);

	for (size_t i = 0; i < text.len; i++) {
		if (copy[i] >= first && copy[i] <= first + 25)
			copy[i] ^= 0x20;
	}
	return cel_stringn(copy, text.len);
}

/*
 * Returns the next occurrence of part from byte `from` on, or NULL. The empty
 * part occurs after the code point at `from`; if first is true, at `from`
 * itself.
 */
static const char *next_place(struct cel_text text, size_t from,
			      struct cel_text part, bool first)
{
	if (part.len)
		return find_part(text, from, part);
	if (!first)
		from += utf8_length(text.data + from, text.len - from);
	return text.data + from;
}

static struct cel_value bounded(struct cel_call *call, struct buf *out)
{
	if (out->len <= CEL_TEXT_MAX)
		return cel_string_from(call->arena, out);
	buf_release(out);
	return cel_error(call->arena, "%s: the result is larger than %d bytes",
			 call->overload->name, CEL_TEXT_MAX);
}

static struct cel_value replace(struct cel_call *call)
{
	struct cel_text text = call->args[0].text, old = call->args[1].text;
	struct cel_text new = call->args[2].text;
	int64_t limit = call->n > 3 ? call->args[3].integer : -1;
	size_t from = 0;
	struct buf out;

	buf_init(&out);
	for (int64_t i = 0; out.len <= CEL_TEXT_MAX && i != limit &&
			    (old.len || from < text.len || !i);
	     i++) {
		const char *at = next_place(text, from, old, !i);
		size_t place;

		if (!at)
			break;
		place = (size_t)(at - text.data);
		buf_add(&out, text.data + from, place - from);
		buf_add(&out, new.data, new.len);
		from = place + old.len;
	}
	buf_add(&out, text.data + from, text.len - from);
	return bounded(call, &out);
}

/* Units of work that take as much memory as one list item. */
enum { PART_WORK = 4 };

static struct cel_value split(struct cel_call *call)
{
	struct cel_text text = call->args[0].text, part = call->args[1].text;
	int64_t limit = call->n > 2 ? call->args[2].integer : -1;
	struct cel_value *items = NULL;
	size_t n = 0, size = 0, from = 0;
	bool more = limit && (text.len || part.len);

	while (more && !call->eval->over) {
		const char *at = (int64_t)n + 1 == limit
					 ? NULL
					 : next_place(text, from, part, false);
		size_t end = at ? (size_t)(at - text.data) : text.len;

		more = part.len ? at != NULL : end < text.len;
		*VEC_PUSH(call->arena, items, n, size) =
			cel_string_part(text, from, end);
		from = end + part.len;
		eval_work(call->eval, PART_WORK);
	}
	return cel_list(call->arena, items, n);
}

static struct cel_value not_joined(struct cel_call *call, struct cel_value item)
{
	if (cel_is_abnormal(item))
		return item;
	return cel_error(call->arena, "join: invalid input: %s",
			 cel_value_text(call->arena, item));
}

static struct cel_value join(struct cel_call *call)
{
	size_t n = cel_size(call->args[0]);
	struct cel_value item;
	struct buf out;

	buf_init(&out);
	for (size_t i = 0; i < n && out.len <= CEL_TEXT_MAX; i++) {
		item = cel_list_at(call->arena, call->args[0], i);
		if (!cel_is(item, CEL_STRING)) {
			buf_release(&out);
			return not_joined(call, item);
		}
		if (i && call->n > 1)
			buf_add(&out, call->args[1].text.data,
				call->args[1].text.len);
		buf_add(&out, item.text.data, item.text.len);
	}
	return bounded(call, &out);
}

static uint64_t join_cost(const struct cel_call *call, struct cel_value result)
{
	return cel_cost_share(2 * cel_cost_size(result), 0.1);
}

static struct cel_value substring(struct cel_call *call)
{
	struct cel_text text = call->args[0].text;
	int64_t start = call->args[1].integer;
	int64_t end = call->n > 2 ? call->args[2].integer
				  : (int64_t)cel_text_size(text);
	size_t from;

	if (call->n > 2 && start > end)
		return cel_error(
			call->arena,
			"invalid substring range. start: %lld, end: %lld",
			(long long)start, (long long)end);
	if (!is_within(start, text))
		return out_of_range(call, start);
	if (!is_within(end, text))
		return out_of_range(call, end);
	from = bytes_of(text, (size_t)start);
	return cel_string_part(text, from, bytes_of(text, (size_t)end));
}

/* Returns the length in bytes of the white-space character (Unicode's
 * White_Space) at the start of a text, or 0. */
static size_t space_length(const char *s, size_t len)
{
	size_t n = utf8_length(s, len);
	unsigned c = n ? utf8_code_point(s, n) : 0;

	if ((c >= '\t' && c <= '\r') || (c >= 0x2000 && c <= 0x200a))
		return n;
	switch (c) {
	case ' ':
	case 0x85:
	case 0xa0:
	case 0x1680:
	case 0x2028:
	case 0x2029:
	case 0x202f:
	case 0x205f:
	case 0x3000:
		return n;
	default:
		return 0;
	}
}

static struct cel_value trim(struct cel_call *call)
{
	struct cel_text text = call->args[0].text;
	size_t start = 0, end, at, space;

	while ((space = space_length(text.data + start, text.len - start)) > 0)
		start += space;
	for (end = at = start; at < text.len;) {
		space = space_length(text.data + at, text.len - at);
		at += space ? space
			    : utf8_length(text.data + at, text.len - at);
		if (!space)
			end = at;
	}
	return cel_string_part(text, start, end);
}

static struct cel_value quote(struct cel_call *call)
{
	struct buf out;

	buf_init(&out);
	cel_quote(call->args[0].text, false, &out);
	return cel_string_from(call->arena, &out);
}

const struct cel_overload cel_strings_library[] = {
	{"contains", "string.(string) bool", contains, contains_cost},
	{"startsWith", "string.(string) bool", starts_with,
	 cel_cost_traverse_argument},
	{"endsWith", "string.(string) bool", ends_with,
	 cel_cost_traverse_argument},
	{"charAt", "string.(int) string", char_at, NULL},
	{"indexOf", "string.(string) int", index_of, index_cost},
	{"indexOf", "string.(string, int) int", index_of, index_cost},
	{"lastIndexOf", "string.(string) int", last_index_of, index_cost},
	{"lastIndexOf", "string.(string, int) int", last_index_of, index_cost},
	{"lowerAscii", "string.() string", with_case, cel_cost_traverse},
	{"upperAscii", "string.() string", with_case, cel_cost_traverse},
	{"replace", "string.(string, string) string", replace, cel_cost_twice},
	{"replace", "string.(string, string, int) string", replace,
	 cel_cost_twice},
	{"split", "string.(string) list(string)", split, cel_cost_twice},
	{"split", "string.(string, int) list(string)", split, cel_cost_twice},
	{"join", "list(string).() string", join, join_cost},
	{"join", "list(string).(string) string", join, join_cost},
	{"substring", "string.(int) string", substring, cel_cost_traverse},
	{"substring", "string.(int, int) string", substring, cel_cost_traverse},
	{"trim", "string.() string", trim, cel_cost_traverse},
	{"strings.quote", "(string) string", quote, cel_cost_traverse},
	{0},
};
