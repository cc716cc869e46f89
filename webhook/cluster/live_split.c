/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Splits the chunks of a response into the lines of a watch, or the items of a
 * list.
 */
#include "reflector.h"

#include <string.h>

/* --- lines ---------------------------------------------------------------- */

bool lines_feed(struct buf *rest, const char *data, size_t len,
		const struct split_sink *sink)
{
	size_t start = 0, look = rest->len;
	const char *nl;
	bool good = true;

	buf_add(rest, data, len);
	while (good &&
	       (nl = memchr(rest->data + look, '\n', rest->len - look))) {
		size_t end = (size_t)(nl - rest->data);
		bool cr = end > start && nl[-1] == '\r';

		if (end - cr > start)
			good = sink->take(sink->context, rest->data + start,
					  end - cr - start);
		start = look = end + 1;
	}
	rest->len -= start;
	if (start)
		memmove(rest->data, rest->data + start, rest->len);
	/* Frees the memory of a long line, because long lines are rare. */
	if (!rest->len && rest->size > 1 << 16)
		buf_release(rest);
	return good && rest->len <= SPLIT_VALUE_MAX;
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

static void string_byte(struct items *s, char c)
{
	const char *text;

	buf_addc(s->to, c);
	if (s->escaped || c != '"') {
		s->escaped = c == '\\' && !s->escaped;
		return;
	}
	s->in_string = false;
	text = s->head.data + s->string;
	if (s->depth == LIST_DEPTH && !s->in_items)
		s->is_key = !strcmp(text, "\"items\"");
}

/* Handles an opening bracket. Called after the bracket was added. */
static void open_bracket(struct items *s, char c)
{
	if (s->depth == LIST_DEPTH && s->is_key && c == '[')
		s->in_items = true;
	s->is_key = false;
	s->depth++;
}

/* Handles a closing bracket. Returns false if splitting must end. */
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

/* Returns the buffer for the byte, or NULL for a byte between items. The
 * brackets of the list itself belong to the head. */
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

static bool plain_byte(struct items *s, char c, const struct split_sink *sink)
{
	struct buf *to = home(s, c);

	if (!to && !strchr(", \t\r\n", c))
		return false;
	if (c == '"') {
		s->in_string = true;
		s->to = to;
		s->string = s->head.len;
	}
	if (to)
		buf_addc(to, c);
	if (c == ',')
		s->is_key = false;
	if (c == '{' || c == '[')
		open_bracket(s, c);
	if (c == '}' || c == ']')
		return close_bracket(s, sink);
	return c != '\0';
}

bool items_feed(struct items *s, const char *data, size_t len,
		const struct split_sink *sink)
{
	const char *end = data + len;

	for (; data < end && !s->done; data++) {
		if (s->in_string)
			string_byte(s, *data);
		else if (!plain_byte(s, *data, sink))
			return false;
		if (s->item.len > SPLIT_VALUE_MAX ||
		    s->head.len > SPLIT_VALUE_MAX)
			return false;
	}
	return true;
}
