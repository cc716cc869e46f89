/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the tree. Maps are scanned, comparing tags and lengths first, because
 * Kubernetes objects have few keys per map; only large maps have a hash index.
 * The child of an unknown node is the node itself, and every test of its value
 * is false.
 */
#include "doc/node.h"

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/text.h"
#include "index.h"

#define EACH_BYTE(byte) (UINT64_C(0x0101010101010101) * (byte))

struct node **index_slot(const struct node_index *index, const char *key,
			 size_t len)
{
	uint32_t mask = index->size - 1;
	uint64_t hash = text_keyed_hash(key, len);
	uint32_t i = (uint32_t)(hash ^ hash >> 32) & mask;

	while (index->slots[i] && (index->slots[i]->key_len != len ||
				   memcmp(index->slots[i]->key, key, len) != 0))
		i = (i + 1) & mask;
	return &index->slots[i];
}

static inline bool has_key(const struct node *child, const char *key,
			   size_t len, uint16_t tag)
{
	return child->tag == tag && child->key_len == len && child->key &&
	       text_same_bytes(child->key, key, len);
}

struct node *node_lookup(const struct node *map, const char *key, size_t len)
{
	struct node *child = map->first;
	uint16_t tag = node_tag(key, len);

	if (!(map->tags & node_tag_bit(tag)))
		return NULL;
	if (map->map_index) {
		struct node *found = *index_slot(map->map_index, key, len);

		if (found)
			return found;
		child = map->map_index->indexed->next;
	}
	for (; child; child = child->next)
		if (has_key(child, key, len, tag))
			return child;
	return NULL;
}

const struct node *node_get_tagged(const struct node *map, const char *key,
				   size_t len, uint16_t tag)
{
	if (map->flags & NODE_UNKNOWN)
		return map;
	if (map->map_index)
		return node_lookup(map, key, len);
	for (const struct node *child = map->first; child; child = child->next)
		if (has_key(child, key, len, tag))
			return child;
	return NULL;
}

const struct node *node_get_likely(const struct node *map, size_t len,
				   uint16_t tag)
{
	const struct node *child = map->first;

	if (map->flags & NODE_UNKNOWN)
		return map;
	while (child && (child->tag != tag || child->key_len != len))
		child = child->next;
	return child;
}

const struct node *node_path(const struct node *node, const char *dotted)
{
	while (node) {
		size_t len = (size_t)(strchrnul(dotted, '.') - dotted);

		node = node_getn(node, dotted, len);
		if (!dotted[len])
			break;
		dotted += len + 1;
	}
	return node;
}

const struct node *node_at(const struct node *seq, size_t i)
{
	const struct node *child;

	if (!seq)
		return NULL;
	if (seq->flags & NODE_UNKNOWN)
		return seq;
	if (seq->type != NODE_SEQ || i >= seq->len)
		return NULL;
	for (child = seq->first; child && i; i--)
		child = child->next;
	return child;
}

bool node_is_true(const struct node *node)
{
	return node_known(node, NODE_BOOL) && node->str[0] == 't';
}

bool node_is_false(const struct node *node)
{
	return node_known(node, NODE_BOOL) && node->str[0] == 'f';
}

size_t node_count(const struct node *node)
{
	return node_is_map(node) || node_is_seq(node) ? node->len : 0;
}

/*
 * The digits of a number's text: its significant digits are first..last,
 * possibly with a point between them, and the last one is worth 10^exponent.
 */
struct decimal {
	bool negative;
	const char *first, *last; /* NULL for zero */
	unsigned digits;
	int64_t exponent;
};

static int64_t parse_exponent(const char *s)
{
	bool negative = *s == '-';
	int64_t value = 0;

	if (*s == '-' || *s == '+')
		s++;
	for (; *s >= '0' && *s <= '9'; s++)
		if (value < INT32_MAX)
			value = value * 10 + (*s - '0');
	return negative ? -value : value;
}

/* Reads a number into d. Returns false for NaN and infinity, which have no
 * digits first. */
static bool parse_decimal(const char *s, struct decimal *d)
{
	int64_t behind = 0; /* digits after the last significant one */
	int64_t fraction = 0;
	bool point = false;
	unsigned digits = 0;

	*d = (struct decimal){.negative = *s == '-'};
	if (*s == '-' || *s == '+')
		s++;
	if (*s < '0' || *s > '9')
		return false;
	for (; (*s >= '0' && *s <= '9') || (*s == '.' && !point); s++) {
		if (*s == '.') {
			point = true;
			continue;
		}
		fraction += point;
		behind++;
		if (d->first)
			digits++;
		if (*s == '0')
			continue;
		if (!d->first) {
			d->first = s;
			digits = 1;
		}
		d->last = s;
		d->digits = digits;
		behind = 0;
	}
	d->exponent = behind - fraction;
	if (*s == 'e' || *s == 'E')
		d->exponent += parse_exponent(s + 1);
	return true;
}

static bool decimal_int(const struct decimal *d, int64_t *value)
{
	uint64_t limit = (uint64_t)INT64_MAX + d->negative;
	uint64_t sum = 0;

	if (d->first && (d->exponent < 0 || d->digits + d->exponent > 19))
		return false;
	for (const char *s = d->first; s && s <= d->last; s++)
		if (*s != '.')
			sum = sum * 10 + (uint64_t)(*s - '0');
	for (int64_t i = 0; d->first && i < d->exponent; i++)
		sum *= 10; /* 19 digits fit into 64 bits */
	if (sum > limit)
		return false;
	*value = d->negative ? (int64_t)(0 - sum) : (int64_t)sum;
	return true;
}

/* Reads an integer of a few digits, the usual form of numbers. */
static bool is_short_int(const struct node *node, int64_t *value)
{
	int64_t n = 0;

	if (!node->len || node->len > 18)
		return false;
	for (uint32_t i = 0; i < node->len; i++) {
		if (node->str[i] < '0' || node->str[i] > '9')
			return false;
		n = n * 10 + (node->str[i] - '0');
	}
	*value = n;
	return true;
}

bool node_int(const struct node *node, int64_t *value)
{
	struct decimal d;

	if (node_known(node, NODE_INT) && is_short_int(node, value))
		return true;
	if (!node_known(node, NODE_INT) && !node_known(node, NODE_FLOAT))
		return false;
	return parse_decimal(node->str, &d) && decimal_int(&d, value);
}

static bool same_number(const struct node *a, const struct node *b)
{
	struct decimal x, y;
	const char *s, *t;

	if (!parse_decimal(a->str, &x) || !parse_decimal(b->str, &y))
		return strcmp(a->str, b->str) == 0;
	if (!x.first || !y.first)
		return !x.first && !y.first;
	if (x.negative != y.negative || x.exponent != y.exponent ||
	    x.digits != y.digits)
		return false;
	for (s = x.first, t = y.first; s <= x.last && t <= y.last; s++, t++) {
		s += *s == '.';
		t += *t == '.';
		if (*s != *t)
			return false;
	}
	return true;
}

static bool is_number(const struct node *node)
{
	return node->type == NODE_INT || node->type == NODE_FLOAT;
}

static bool same_children(const struct node *a, const struct node *b)
{
	const struct node *x = a->first, *y = b->first;

	if (a->len != b->len)
		return false;
	for (; x && y; x = x->next, y = y->next) {
		const struct node *other = y;

		if (a->type == NODE_MAP)
			other = node_lookup(b, x->key, x->key_len);
		if (!other || !node_same(x, other))
			return false;
	}
	return true;
}

bool node_same(const struct node *a, const struct node *b)
{
	if (!a || !b || a == b)
		return a == b;
	if (is_number(a) && is_number(b))
		return same_number(a, b);
	if (a->type != b->type)
		return false;
	if (a->type == NODE_MAP || a->type == NODE_SEQ)
		return same_children(a, b);
	if (a->type == NODE_NULL)
		return true;
	return a->len == b->len && memcmp(a->str, b->str, a->len) == 0;
}

/* Returns an upper bound for the length of the node's pointer. */
static size_t pointer_room(const struct node *node)
{
	size_t room = 0;

	for (; node && node->parent; node = node->parent)
		room += 12 + 2 * (node->key ? node->key_len : 0);
	return room;
}

static char *put_key(char *out, const char *key, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		char c = key[i];

		if (c == '~' || c == '/') {
			*out++ = '~';
			c = c == '~' ? '0' : '1';
		}
		*out++ = c;
	}
	return out;
}

void pointer_add(struct buf *out, const char *key, size_t len)
{
	buf_grow(out, 1 + 2 * len);
	buf_addc(out, '/');
	out->len =
		(size_t)(put_key(out->data + out->len, key, len) - out->data);
	out->data[out->len] = '\0';
}

/* Writes the path from the root down to the node; returns its end. */
static char *put_pointer(char *out, const struct node *node)
{
	if (!node || !node->parent)
		return out;
	out = put_pointer(out, node->parent);
	if (node_is_view(node))
		return out;
	*out++ = '/';
	if (node->key)
		return put_key(out, node->key, node->key_len);
	if (node->index < 10)
		*out++ = (char)('0' + node->index);
	else
		out += snprintf(out, 11, "%u", node->index);
	return out;
}

void node_pointer(const struct node *node, struct buf *out)
{
	size_t room = pointer_room(node);

	if (!room)
		return;
	buf_grow(out, room);
	out->len =
		(size_t)(put_pointer(out->data + out->len, node) - out->data);
	out->data[out->len] = '\0';
}

char *node_pointer_text(struct arena *arena, const struct node *node)
{
	char *text = arena_take(arena, pointer_room(node) + 1, 1);

	*put_pointer(text, node) = '\0';
	return text;
}

static int compare_keys(const void *left, const void *right)
{
	const struct node *a = *(const struct node *const *)left;
	const struct node *b = *(const struct node *const *)right;
	size_t len = a->key_len < b->key_len ? a->key_len : b->key_len;
	int order = memcmp(a->key, b->key, len);

	if (order)
		return order;
	return (a->key_len > b->key_len) - (a->key_len < b->key_len);
}

const struct node **node_by_key(const struct node *map)
{
	const struct node **items;
	size_t n = 0;

	if (!node_is_map(map) || !map->len)
		return NULL;
	items = malloc(map->len * sizeof(const struct node *));
	if (!items)
		OUT_OF_MEMORY();
	FOR_EACH_CHILD(map, child)
		items[n++] = child;
	qsort(items, n, sizeof(const struct node *), compare_keys);
	return items;
}

uint64_t node_named_path(const struct node *node, const struct node *root)
{
	const char *name;
	uint64_t hash;

	if (!node || node == root || !node->parent)
		return 0;
	hash = node_named_path(node->parent, root);
	if (node_is_view(node))
		return hash;
	if (node->key)
		return text_hash(node->key, node->key_len, hash);
	name = node_str(node_get(node, "name"));
	if (name)
		return text_hash(name, strlen(name) + 1, hash);
	return text_hash(&node->index, sizeof(node->index), hash);
}

static void add_escape(struct buf *out, unsigned char c)
{
	static const char from[] = "\"\\\n\t\r\b\f", to[] = "\"\\ntrbf";
	const char *short_form = c ? strchr(from, c) : NULL;

	if (short_form)
		buf_add(out, (char[]){'\\', to[short_form - from]}, 2);
	else
		buf_addf(out, "\\u%04x", c);
}

/* Returns the first byte from i on that needs an escape, or len. */
static size_t plain_until(const char *s, size_t i, size_t len)
{
	/* The lowest mark is right; a borrow affects only marks above it. */
	for (; len - i >= 8; i += 8) {
		uint64_t w, marks;

		memcpy(&w, s + i, sizeof(w));
		w = le64toh(w);
		marks = (w - EACH_BYTE(0x20)) & ~w;
		marks |= (w ^ EACH_BYTE('"')) - EACH_BYTE(1);
		marks |= (w ^ EACH_BYTE('\\')) - EACH_BYTE(1);
		if (marks & ~w & EACH_BYTE(0x80))
			break;
	}
	while (i < len && (unsigned char)s[i] >= 0x20 && s[i] != '"' &&
	       s[i] != '\\')
		i++;
	return i;
}

void text_json(const char *text, size_t len, struct buf *out)
{
	size_t start = 0, i;

	buf_grow(out, len + 2);
	buf_addc(out, '"');
	while ((i = plain_until(text, start, len)) < len) {
		buf_add(out, text + start, i - start);
		add_escape(out, (unsigned char)text[i]);
		start = i + 1;
	}
	buf_add(out, text + start, len - start);
	buf_addc(out, '"');
}

static void add_children(const struct node *node, struct buf *out)
{
	buf_addc(out, node->type == NODE_MAP ? '{' : '[');
	for (const struct node *child = node->first; child;
	     child = child->next) {
		if (child != node->first)
			buf_addc(out, ',');
		if (node->type == NODE_MAP) {
			text_json(child->key, child->key_len, out);
			buf_addc(out, ':');
		}
		node_json(child, out);
	}
	buf_addc(out, node->type == NODE_MAP ? '}' : ']');
}

void node_json(const struct node *node, struct buf *out)
{
	if (!node || node->type == NODE_NULL)
		buf_adds(out, "null");
	else if (node->type == NODE_MAP || node->type == NODE_SEQ)
		add_children(node, out);
	else if (node->type == NODE_STRING)
		text_json(node->str, node->len, out);
	else
		buf_add(out, node->str, node->len);
}

static bool is_scalar(const struct node *node)
{
	return node->type != NODE_MAP && node->type != NODE_SEQ;
}

/* Finds the part of a map or seq in a list that distinguishes it from its
 * siblings. Returns false if there is none. */
static bool item_anchor(const struct node *item, uint32_t *start, uint32_t *end)
{
	const struct node *name = NULL;

	if (item->type == NODE_MAP)
		name = node_lookup(item, "name", 4);
	if (name && is_scalar(name) && name->end > name->start) {
		*start = name->start;
		*end = name->end;
		return true;
	}
	if (!item->first || item->first->key_end <= item->first->key_start)
		return false;
	*start = item->first->key_start;
	*end = item->first->key_end;
	return true;
}

void node_anchor(const struct node *node, uint32_t *start, uint32_t *end)
{
	*start = *end = 0;
	while (node && node_is_view(node))
		node = node->parent;
	if (!node)
		return;
	if (is_scalar(node) && node->end > node->start) {
		*start = node->start;
		*end = node->end;
	} else if (node->key_end > node->key_start) {
		*start = node->key_start;
		*end = node->key_end;
	} else if (is_scalar(node) || !item_anchor(node, start, end)) {
		*start = node->start;
		*end = node->start + 1;
	}
}
