/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packs trees and numbers into bytes. Numbers have seven bits per byte, low
 * bits first. A value is one byte with type and length, then its text or its
 * children. A length of 31 means that the length follows. Keys are numbers of
 * known names, or texts. The bytes come only from this process. A read past the
 * end returns 0, so that a defect does no further damage.
 */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/escape.h"
#include "base/text.h"
#include "cluster_internal.h"
#include "doc/build.h"

/* --- names ---------------------------------------------------------------- */

enum { NAME_SLOTS = 2 * NAMES_MAX, LONGEST_NAME = 256 };

struct name_table *names_new(void)
{
	struct name_table *names = array_zalloc(1, sizeof(*names));
	struct escape_guard guard;

	escape_guard(&guard, free, names);
	names->slots = array_zalloc(NAME_SLOTS, sizeof(*names->slots));
	escape_unguard(&guard);
	atomic_init(&names->refs, 1);
	return names;
}

void names_put(struct name_table *names)
{
	if (!names || atomic_fetch_sub_explicit(&names->refs, 1,
						memory_order_acq_rel) != 1)
		return;
	arena_release(&names->arena);
	free(names->slots);
	free(names);
}

/* Returns 1 + the number of the name, which is added if it is new; 0 if the
 * table is full or the name too long. */
static uint32_t name_number(struct name_table *names, const char *text,
			    size_t len)
{
	uint64_t i = text_keyed_hash(text, len);

	for (;; i++) {
		uint32_t *slot = &names->slots[i & (NAME_SLOTS - 1)];

		if (*slot && !strcmp(names->items[*slot - 1], text))
			return *slot;
		if (*slot)
			continue;
		if (names->n == NAMES_MAX || len > LONGEST_NAME)
			return 0;
		names->items[names->n] =
			arena_strndup(&names->arena, text, len);
		return *slot = ++names->n;
	}
}

/* --- writing -------------------------------------------------------------- */

void put_number(struct buf *out, uint64_t n)
{
	for (; n > 0x7f; n >>= 7)
		buf_addc(out, (char)(0x80 | (n & 0x7f)));
	buf_addc(out, (char)n);
}

void put_text(struct buf *out, const char *text)
{
	buf_add(out, text, strlen(text) + 1);
}

void put_name(struct buf *out, struct name_table *names, const char *text)
{
	uint32_t number = name_number(names, text, strlen(text));

	put_number(out, number);
	if (!number)
		put_text(out, text);
}

static void put_head(struct buf *out, unsigned type, size_t len)
{
	size_t low = len < 31 ? len : 31;

	buf_addc(out, (char)(type | low << 3));
	if (low == 31)
		put_number(out, len);
}

void put_tree(struct buf *out, struct name_table *names,
	      const struct node *node)
{
	put_head(out, node->type, node->type == NODE_NULL ? 0 : node->len);
	if (node->type == NODE_NULL)
		return;
	if (node->type != NODE_MAP && node->type != NODE_SEQ) {
		buf_add(out, node->str, node->len);
		return;
	}
	FOR_EACH_CHILD(node, child) {
		if (node->type == NODE_MAP)
			put_name(out, names, child->key);
		put_tree(out, names, child);
	}
}

void put_quantity(struct buf *out, struct quantity q)
{
	__extension__ const __int128 whole = q.nano / 1000000000;
	bool small =
		q.nano % 1000000000 == 0 && whole >= 0 && whole <= INT64_MAX;

	buf_addc(out, (char)(q.format | (small ? 0 : 4)));
	if (small)
		put_number(out, (uint64_t)whole);
	else
		buf_add(out, &q.nano, sizeof(q.nano));
}

/* --- reading -------------------------------------------------------------- */

static unsigned take_byte(struct byte_cursor *c)
{
	return c->at < c->end ? *c->at++ : 0;
}

uint64_t take_number(struct byte_cursor *c)
{
	uint64_t n = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		unsigned byte = take_byte(c);

		n |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			break;
	}
	return n;
}

const char *take_text(struct byte_cursor *c)
{
	const unsigned char *text = c->at;
	const unsigned char *nul =
		text < c->end ? memchr(text, 0, (size_t)(c->end - text)) : NULL;

	if (!nul) {
		c->at = c->end;
		return "";
	}
	c->at = nul + 1;
	return (const char *)text;
}

const char *take_name(struct byte_cursor *c, struct arena *arena)
{
	uint64_t number = take_number(c);

	if (number > 0 && number <= NAMES_MAX)
		return c->names->items[number - 1];
	return arena_strdup(arena, take_text(c));
}

static void take_scalar(struct byte_cursor *c, struct arena *arena, size_t len,
			struct node *node)
{
	if (len > (size_t)(c->end - c->at))
		len = (size_t)(c->end - c->at);
	node->str = node->type == NODE_NULL
			    ? "null"
			    : arena_strndup(arena, (const char *)c->at, len);
	node->len = (uint32_t)len;
	c->at += len;
}

struct node *take_tree(struct byte_cursor *c, struct arena *arena)
{
	unsigned head = take_byte(c);
	struct node *node = node_new(arena, head & 7);
	uint64_t len = head >> 3;

	if (len == 31)
		len = take_number(c);
	if (node->type != NODE_MAP && node->type != NODE_SEQ) {
		take_scalar(c, arena, len, node);
		return node;
	}
	for (uint64_t i = 0; i < len && c->at < c->end; i++) {
		const char *key =
			node->type == NODE_MAP ? take_name(c, arena) : NULL;
		struct node *child = take_tree(c, arena);

		child->key = key;
		child->key_len = key ? (uint32_t)strlen(key) : 0;
		node_append(node, child);
	}
	return node;
}

struct quantity take_quantity(struct byte_cursor *c)
{
	struct quantity q = quantity_from(0);
	unsigned head = take_byte(c);

	if (!(head & 4)) {
		q = quantity_from((int64_t)take_number(c));
	} else if ((size_t)(c->end - c->at) >= sizeof(q.nano)) {
		memcpy(&q.nano, c->at, sizeof(q.nano));
		c->at += sizeof(q.nano);
	}
	q.format = head & 3;
	return q;
}
