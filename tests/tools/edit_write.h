/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes random trees, and random texts of them, for edit_random: block and flow
 * style, all indentations, comments (only comments contain ##), quotes, empty
 * and null parents, block scalars, anchors and merges, several documents, CRLF,
 * a missing final line end, JSON on one line or on many. The writer under test
 * is not used.
 */
#ifndef TESTS_EDIT_WRITE_H
#define TESTS_EDIT_WRITE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "doc/edit.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct random {
	uint64_t state;
};

struct writer {
	struct random random;
	struct arena *arena;
	struct buf out;
	const char *nl;
	/* crazy: the style changes at random before each value */
	bool comments, anchors, crazy;
	unsigned step, offset, gap, flow;
	unsigned nanchors;
};

static inline uint64_t draw(struct random *random)
{
	uint64_t z = random->state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static inline unsigned below(struct random *random, unsigned n)
{
	return n ? (unsigned)(draw(random) % n) : 0;
}

static inline bool chance(struct random *random, unsigned percent)
{
	return below(random, 100) < percent;
}

/* --- trees --------------------------------------------------------------- */

static inline const char *random_key(struct random *random)
{
	static const char *const keys[] = {
		"a",	    "b",	  "spec",      "limits",
		"metadata", "resources",  "volumes",   "nvidia.com/gpu",
		"name",	    "size",	  "tilde~key", "yes",
		"1",	    "with blank", "é",	       "",
		"-dash",    "a: b",	  "#hash",     "null",
		"1.5",	    "{",	  "*star",     "~",
		"0x10",	    "c",	  "d",	       "env",
	};
	unsigned common = chance(random, 75) ? 9 : COUNT(keys);

	return keys[below(random, common)];
}

static inline const char *random_name(struct random *random)
{
	static const char *const names[] = {"x", "y", "dshm", "main", "v1"};

	return names[below(random, COUNT(names))];
}

static inline const char *random_text(struct random *random)
{
	static const char *const texts[] = {
		"x",
		"Exists",
		"16Gi",
		"no",
		"1",
		"",
		" lead",
		"trail ",
		"a: b",
		"a #b",
		"a#b",
		"é ü",
		"日本",
		"1e3",
		"0x1F",
		"true",
		"~",
		"null",
		"- x",
		"-x",
		"[a",
		"{a}",
		"a,b",
		"\"q\"",
		"'s'",
		"line\nbreak",
		"tab\there",
		"back\\slash",
		"%x",
		"@x",
		"`x`",
		"&x",
		"*x",
		"!x",
		"|x",
		">x",
		"?x",
		"? x",
		":x",
		"x:",
		"=",
		"<<",
		"---",
		"...",
		"--- a",
		"12:30",
		"1_000",
		"2001-01-01",
		"\x01",
		"\x7f",
		"\xc2\x85",
		"\xe2\x80\xa8",
		"\xef\xbb\xbf",
		"😀",
		"/dev/shm",
		"nvidia.com/gpu",
		"y",
		"+1",
		".5",
		"0o17",
		"a\r\nb",
		"\n",
		"  ",
		"a\n\n",
		"\n a",
	};
	unsigned common = chance(random, 50) ? 3 : COUNT(texts);

	return texts[below(random, common)];
}

static inline struct node *random_value(struct random *random,
					struct arena *arena, unsigned depth);

static inline struct node *random_map(struct random *random,
				      struct arena *arena, unsigned depth)
{
	struct node *map = edit_map(arena);

	for (unsigned n = below(random, 5); n; n--) {
		const char *key = random_key(random);

		if (!node_get(map, key))
			edit_member(arena, map, key,
				    random_value(random, arena, depth));
	}
	return map;
}

static inline struct node *random_seq(struct random *random,
				      struct arena *arena, unsigned depth)
{
	struct node *seq = edit_seq(arena), *item;
	bool named = chance(random, 70);

	for (unsigned n = below(random, 5); n; n--) {
		if (!named) {
			edit_item(seq, random_value(random, arena, depth));
			continue;
		}
		item = edit_map(arena);
		edit_member_string(arena, item, "name", random_name(random));
		for (unsigned k = below(random, 3); k; k--) {
			const char *key = random_key(random);

			if (!node_get(item, key))
				edit_member(arena, item, key,
					    random_value(random, arena, depth));
		}
		edit_item(seq, item);
	}
	return seq;
}

static inline struct node *random_value(struct random *random,
					struct arena *arena, unsigned depth)
{
	unsigned what = below(random, depth ? 10 : 4);
	struct node *null;

	if (what == 0)
		return edit_int(arena, (int64_t)below(random, 1000) - 10);
	if (what == 1 && chance(random, 50))
		return edit_bool(arena, chance(random, 50));
	if (what == 2 && chance(random, 50)) {
		null = edit_string(arena, "null");
		null->type = NODE_NULL;
		return null;
	}
	if (what < 4)
		return edit_string(arena, random_text(random));
	return what < 7 ? random_map(random, arena, depth - 1)
			: random_seq(random, arena, depth - 1);
}

/* --- texts --------------------------------------------------------------- */

static inline void put_blanks(struct writer *writer, unsigned n)
{
	while (n--)
		buf_addc(&writer->out, ' ');
}

/* Writes a line end, possibly with a comment, comment lines and empty lines. */
static inline void put_line_end(struct writer *writer)
{
	struct random *random = &writer->random;

	if (chance(random, 5))
		put_blanks(writer, 1 + below(random, 3));
	if (writer->comments && chance(random, 20))
		buf_adds(&writer->out, " ## é comment: [x] \"");
	buf_adds(&writer->out, writer->nl);
	while (writer->comments && chance(random, 12)) {
		if (chance(random, 60)) {
			put_blanks(writer, below(random, 8));
			buf_adds(&writer->out, chance(random, 30)
						       ? "## - own item"
						       : "## own line");
		}
		buf_adds(&writer->out, writer->nl);
	}
}

static inline bool is_plain(const char *s, size_t len)
{
	static const char *const words[] = {"no", "yes", "true", "null", "y",
					    "n",  "on",	 "off",	 "false"};

	if (!len || s[0] < 'a' || s[0] > 'z')
		return false;
	for (size_t i = 0; i < len; i++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzG0123456789./", s[i]) ||
		    !s[i])
			return false;
	for (size_t i = 0; i < COUNT(words); i++)
		if (!strcmp(words[i], s))
			return false;
	return true;
}

static inline void put_double(struct writer *writer, const char *s, size_t len)
{
	buf_addc(&writer->out, '"');
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c == '"' || c == '\\')
			buf_addf(&writer->out, "\\%c", c);
		else if (c < 0x20 || c == 0x7f)
			buf_addf(&writer->out, "\\u%04x", c);
		else if (c == 0xc2 && s[i + 1] == '\x85')
			buf_addf(&writer->out, "\\u0085"), i++;
		else if (c == 0xe2 && s[i + 1] == '\x80' && s[i + 2] == '\xa8')
			buf_addf(&writer->out, "\\u2028"), i += 2;
		else if (c == 0xef && s[i + 1] == '\xbb' && s[i + 2] == '\xbf')
			buf_addf(&writer->out, "\\ufeff"), i += 2;
		else
			buf_addc(&writer->out, (char)c);
	}
	buf_addc(&writer->out, '"');
}

static inline void put_single(struct writer *writer, const char *s, size_t len)
{
	buf_addc(&writer->out, '\'');
	for (size_t i = 0; i < len; i++) {
		if (s[i] == '\'')
			buf_addc(&writer->out, '\'');
		buf_addc(&writer->out, s[i]);
	}
	buf_addc(&writer->out, '\'');
}

static inline void put_string(struct writer *writer, const char *s, size_t len)
{
	bool control = false;

	for (size_t i = 0; i < len; i++)
		control |= (unsigned char)s[i] < 0x20 ||
			   (unsigned char)s[i] >= 0x7f;
	if (is_plain(s, len) && chance(&writer->random, 80))
		buf_add(&writer->out, s, len);
	else if (!control && chance(&writer->random, 50))
		put_single(writer, s, len);
	else
		put_double(writer, s, len);
}

static inline void put_scalar(struct writer *writer, const struct node *node)
{
	static const char *const nulls[] = {"null", "~", "Null"};

	if (node->type == NODE_STRING)
		put_string(writer, node->str, node->len);
	else if (node->type == NODE_NULL)
		buf_adds(&writer->out, nulls[below(&writer->random, 3)]);
	else if (node->type == NODE_MAP)
		buf_adds(&writer->out,
			 chance(&writer->random, 80) ? "{}" : "{ }");
	else if (node->type == NODE_SEQ)
		buf_adds(&writer->out, "[]");
	else
		buf_add(&writer->out, node->str, node->len);
}

/* Sometimes writes an anchor, which precedes a value. */
static inline void put_anchor(struct writer *writer)
{
	if (writer->anchors && chance(&writer->random, 12))
		buf_addf(&writer->out, "&n%u ", ++writer->nanchors);
}

static inline bool put_alias(struct writer *writer)
{
	if (!writer->nanchors || !chance(&writer->random, 12))
		return false;
	buf_addf(&writer->out, "*n%u ",
		 1 + below(&writer->random, writer->nanchors));
	return true;
}

struct flow_style {
	bool json, tight;
	const char *unit; /* NULL: write the value on one line */
};

static inline void put_break(struct writer *writer,
			     const struct flow_style *style, unsigned depth,
			     unsigned col)
{
	if (!style->unit)
		return;
	if (!style->json)
		put_line_end(writer);
	else
		buf_adds(&writer->out, writer->nl);
	put_blanks(writer, col);
	while (depth--)
		buf_adds(&writer->out, style->unit);
}

static inline void put_flow(struct writer *writer, const struct node *node,
			    const struct flow_style *style, unsigned depth,
			    unsigned col)
{
	bool map = node->type == NODE_MAP;

	if (!style->json && put_alias(writer))
		return;
	if (!node->first) {
		if (style->json && node->type == NODE_STRING)
			put_double(writer, node->str, node->len);
		else if (style->json && node->type == NODE_NULL)
			buf_adds(&writer->out, "null");
		else
			put_scalar(writer, node);
		return;
	}
	if (!style->json)
		put_anchor(writer);
	buf_addc(&writer->out, map ? '{' : '[');
	for (const struct node *child = node->first; child;
	     child = child->next) {
		put_break(writer, style, depth + 1, col);
		if (map &&
		    (style->json || !is_plain(child->key, child->key_len)))
			put_double(writer, child->key, child->key_len);
		else if (map)
			buf_add(&writer->out, child->key, child->key_len);
		if (map)
			buf_adds(&writer->out, style->tight ? ":" : ": ");
		put_flow(writer, child, style, depth + 1, col);
		if (child->next ||
		    (!style->json && chance(&writer->random, 10)))
			buf_adds(&writer->out, style->tight ? "," : ", ");
	}
	put_break(writer, style, depth, col);
	buf_addc(&writer->out, map ? '}' : ']');
}

static inline void put_block(struct writer *writer, const struct node *node,
			     unsigned col, bool inlined);

/* Sometimes writes the text as a block scalar (| or >-), if it allows that;
 * returns false if it was not written. */
static inline bool put_literal(struct writer *writer, const struct node *node,
			       unsigned col)
{
	const char *s = node->str;
	size_t n = 0;

	if (node->type != NODE_STRING || !is_plain(s, node->len) ||
	    !chance(&writer->random, 15))
		return false;
	buf_adds(&writer->out, chance(&writer->random, 20)   ? "|+"
			       : chance(&writer->random, 50) ? "|"
							     : ">-");
	for (n = 1 + below(&writer->random, 3); n; n--) {
		buf_adds(&writer->out, writer->nl);
		put_blanks(writer, col);
		buf_add(&writer->out, s, node->len);
	}
	buf_adds(&writer->out, writer->nl);
	if (chance(&writer->random, 15))
		buf_adds(&writer->out, writer->nl);
	return true;
}

static inline void shuffle_style(struct writer *writer)
{
	struct random *random = &writer->random;

	writer->step = 1 + below(random, 4);
	writer->offset = below(random, 4);
	writer->gap = chance(random, 80) ? 1 : 1 + below(random, 3);
	writer->flow = below(random, 3) ? 10 : 50;
}

/* Writes a value after "key:" or "-", with a line end. */
static inline void put_after(struct writer *writer, const struct node *node,
			     unsigned col, bool item)
{
	struct flow_style style = {
		.unit = chance(&writer->random, 30) ? "  " : NULL,
	};
	unsigned inner = item			  ? col + 1 + writer->gap
			 : node->type == NODE_SEQ ? col + writer->offset
						  : col + writer->step;

	if (node->type == NODE_NULL && chance(&writer->random, 50)) {
		put_line_end(writer);
		return;
	}
	put_blanks(writer, item ? writer->gap : 1);
	if (writer->anchors && put_alias(writer)) {
		put_line_end(writer);
		return;
	}
	if (put_literal(writer, node, col + 1 + below(&writer->random, 3)))
		return;
	if (!node->first || chance(&writer->random, writer->flow)) {
		put_anchor(writer);
		put_flow(writer, node, &style, 1, col);
		put_line_end(writer);
		return;
	}
	if (!item) {
		put_anchor(writer);
		put_line_end(writer);
	}
	put_block(writer, node, inner, item);
}

/*
 * Writes entries in column col. If inlined, the first entry is at the current
 * position.
 */
static inline void put_block(struct writer *writer, const struct node *node,
			     unsigned col, bool inlined)
{
	unsigned merge = 0;

	if (writer->anchors && node->type == NODE_MAP && writer->nanchors &&
	    chance(&writer->random, 8))
		merge = 1 + below(&writer->random, node->len);
	for (const struct node *child = node->first; child;
	     child = child->next) {
		if (child != node->first || !inlined)
			put_blanks(writer, col);
		if (merge && child->index + 1 == merge) {
			buf_addf(&writer->out, "<<: *n%u",
				 1 + below(&writer->random, writer->nanchors));
			put_line_end(writer);
			put_blanks(writer, col);
		}
		if (writer->crazy)
			shuffle_style(writer);
		if (node->type == NODE_MAP) {
			put_string(writer, child->key, child->key_len);
			buf_addc(&writer->out, ':');
		} else {
			buf_addc(&writer->out, '-');
		}
		put_after(writer, child, col, node->type == NODE_SEQ);
	}
}

static inline void write_json(struct writer *writer)
{
	static const char *const units[] = {NULL, "  ", "    ", "\t"};
	struct flow_style style = {
		.json = true,
		.unit = units[below(&writer->random, COUNT(units))],
	};

	if (!style.unit)
		style.tight = chance(&writer->random, 50);
	put_flow(writer, random_map(&writer->random, writer->arena, 3), &style,
		 0, 0);
}

static inline void write_document(struct writer *writer)
{
	struct random *random = &writer->random;
	struct flow_style style = {.unit = chance(random, 50) ? "  " : NULL};
	const struct node *root =
		chance(random, 92) ? random_map(random, writer->arena, 4)
				   : random_seq(random, writer->arena, 3);

	writer->nanchors = 0;
	shuffle_style(writer);
	if (!root->first || chance(random, 5)) {
		put_flow(writer, root, &style, 0, 0);
		put_line_end(writer);
	} else {
		put_block(writer, root, chance(random, 95) ? 0 : 2, false);
	}
}

static inline void write_random_file(struct writer *writer)
{
	struct random *random = &writer->random;
	unsigned n = chance(random, 70) ? 1 : 1 + below(random, 3);

	if (chance(random, 15)) {
		write_json(writer);
		if (chance(random, 50))
			buf_adds(&writer->out, writer->nl);
		return;
	}
	for (unsigned i = 0; i < n; i++) {
		if (i || chance(random, 20)) {
			buf_adds(&writer->out, "---");
			put_line_end(writer);
		}
		write_document(writer);
	}
	if (chance(random, 25))
		writer->out.len -= strlen(writer->nl);
	writer->out.data[writer->out.len] = '\0';
}

static inline void writer_init(struct writer *writer, struct arena *arena,
			       uint64_t seed)
{
	struct random *random = &writer->random;

	*writer = (struct writer){.arena = arena, .random = {seed}};
	buf_init(&writer->out);
	writer->nl = chance(random, 80) ? "\n" : "\r\n";
	writer->comments = chance(random, 60);
	writer->anchors = chance(random, 15);
	writer->crazy = chance(random, 20);
}

#endif
