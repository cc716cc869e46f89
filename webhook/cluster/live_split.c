/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes are copied in runs: a run ends where a value or the chunk ends.
 */
#include "live_split.h"

#include <string.h>

/* --- lines ---------------------------------------------------------------- */

void lines_init(struct lines *lines)
{
	buf_init(&lines->rest);
}

void lines_release(struct lines *lines)
{
	buf_release(&lines->rest);
}

static bool take_line(struct lines *lines, const char *data, size_t len,
		      const struct split_sink *sink)
{
	bool good;

	if (lines->rest.len) {
		buf_add(&lines->rest, data, len);
		data = lines->rest.data;
		len = lines->rest.len;
	}
	if (len && data[len - 1] == '\r')
		len--;
	good = !len || sink->take(sink->context, data, len);
	/* A long line is rare; its memory is not kept for the next one. */
	if (lines->rest.size > 1 << 16)
		buf_release(&lines->rest);
	buf_reset(&lines->rest);
	return good;
}

bool lines_feed(struct lines *lines, const char *data, size_t len,
		const struct split_sink *sink)
{
	const char *end = data + len, *nl;

	while ((nl = memchr(data, '\n', (size_t)(end - data)))) {
		if (!take_line(lines, data, (size_t)(nl - data), sink))
			return false;
		data = nl + 1;
	}
	if (lines->rest.len + (size_t)(end - data) > SPLIT_VALUE_MAX)
		return false;
	buf_add(&lines->rest, data, (size_t)(end - data));
	return true;
}

/* --- items ---------------------------------------------------------------- */

void items_init(struct items *items)
{
	*items = (struct items){0};
	buf_init(&items->head);
	buf_init(&items->item);
}

void items_reset(struct items *items)
{
	struct buf head = items->head, item = items->item;

	buf_reset(&head);
	buf_reset(&item);
	*items = (struct items){.head = head, .item = item};
}

void items_release(struct items *items)
{
	buf_release(&items->head);
	buf_release(&items->item);
}

enum { LIST_DEPTH = 1, ITEM_DEPTH = 2 };

static void end_string(struct items *s)
{
	const char *text = s->head.data + s->string;
	size_t len = s->head.len - s->string;

	s->in_string = false;
	if (s->depth == LIST_DEPTH && !s->in_items)
		s->is_key = len == 6 && !memcmp(text, "\"items", 6);
}

/* An opening bracket, already at home. */
static void open_bracket(struct items *s, char c)
{
	if (s->depth == LIST_DEPTH && s->is_key && c == '[')
		s->in_items = true;
	s->is_key = false;
	s->depth++;
}

/* Returns false to end. */
static bool close_bracket(struct items *s, const struct split_sink *sink)
{
	bool good = true;

	if (!s->depth)
		return false;
	s->depth--;
	if (s->in_items && s->depth == ITEM_DEPTH) {
		good = sink->take(sink->context, s->item.data, s->item.len);
		buf_reset(&s->item);
	}
	s->done = !s->depth;
	return good;
}

/* Where the byte goes: the list's own bracket belongs to the head, and
 * between items there is nothing but commas. */
static struct buf *home(struct items *s, char c)
{
	if (s->in_items && s->depth == ITEM_DEPTH && c == ']')
		s->in_items = false;
	if (!s->in_items)
		return &s->head;
	if (s->depth > ITEM_DEPTH || c == '{')
		return &s->item;
	return NULL;
}

/* In a string: up to its end, or the end of the chunk. */
static const char *string_run(struct items *s, const char *at, const char *end)
{
	const char *p = at;

	for (; p < end; p++) {
		if (s->escaped)
			s->escaped = false;
		else if (*p == '\\')
			s->escaped = true;
		else if (*p == '"')
			break;
	}
	buf_add(s->to, at, (size_t)(p - at));
	if (p == end)
		return p;
	end_string(s);
	buf_addc(s->to, '"');
	return p + 1;
}

static bool is_blank(const char *at, const char *end)
{
	while (at < end && strchr(" \t\r\n", *at))
		at++;
	return at == end;
}

/* Outside of strings: bytes without a meaning here, in one run. NULL when
 * there is something other than an item between items. */
static const char *plain_run(struct items *s, const char *at, const char *end)
{
	struct buf *to = home(s, ' ');
	const char *p = at;

	while (p < end && *p && !strchr("\"{}[],", *p))
		p++;
	if (to)
		buf_add(to, at, (size_t)(p - at));
	else if (!is_blank(at, p))
		return NULL;
	return p;
}

static bool mark(struct items *s, char c, const struct split_sink *sink)
{
	struct buf *to = home(s, c);

	if (c == '"') {
		/* A string cannot be an item. */
		if (!to)
			return false;
		s->in_string = true;
		s->to = to;
		s->string = s->head.len;
	}
	if (to)
		buf_addc(to, c);
	if (c == ',')
		s->is_key = false;
	if (c == '{' || c == '[') {
		if (!to)
			return false;
		open_bracket(s, c);
	}
	if (c == '}' || c == ']')
		return close_bracket(s, sink);
	return c != '\0';
}

bool items_feed(struct items *s, const char *data, size_t len,
		const struct split_sink *sink)
{
	const char *end = data + len;

	while (data < end && !s->done) {
		if (s->in_string) {
			data = string_run(s, data, end);
			continue;
		}
		data = plain_run(s, data, end);
		if (!data)
			return false;
		if (data < end && !mark(s, *data++, sink))
			return false;
		if (s->item.len > SPLIT_VALUE_MAX ||
		    s->head.len > SPLIT_VALUE_MAX)
			return false;
	}
	return true;
}
