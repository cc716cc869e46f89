/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses plain and quoted scalars in the fast YAML parser. The scan of a plain
 * scalar ends with the line; if the scalar continues, the caller finds a line
 * that is indented too far and leaves the text to libyaml. Quoted scalars may
 * span several lines with any indentation.
 *
 * A scalar is never longer than its source, and each is followed by a byte that
 * is not part of it (a line end, a quote, a ':'), so that a buffer of the
 * text's length has space for all scalars with their NULs.
 */
#include <string.h>

#include "base/block.h"
#include "doc/build.h"
#include "yaml_block.h"

const uint8_t fast_starts[256] = {
	['0' ... '9'] = START_PLAIN,
	['A' ... 'Z'] = START_PLAIN,
	['a' ... 'z'] = START_PLAIN,
	['$'] = START_PLAIN,
	['('] = START_PLAIN,
	[')'] = START_PLAIN,
	['+'] = START_PLAIN,
	['.'] = START_PLAIN,
	['/'] = START_PLAIN,
	[';'] = START_PLAIN,
	['<'] = START_PLAIN,
	['='] = START_PLAIN,
	['\\'] = START_PLAIN,
	['^'] = START_PLAIN,
	['_'] = START_PLAIN,
	['~'] = START_PLAIN,
	[0x80 ... 0xff] = START_PLAIN,
	['-'] = START_DASH,
	['\''] = START_SINGLE,
	['"'] = START_DOUBLE,
	['|'] = START_BLOCK,
	['>'] = START_BLOCK,
	['['] = START_FLOW,
	['{'] = START_FLOW,
	['&'] = START_ANCHOR,
	['*'] = START_ALIAS,
};

enum {
	STOP_BLOCK = 1, /* may end a plain scalar, or must not occur in one */
	STOP_FLOW = 2,	/* like STOP_BLOCK, inside of brackets */
};

static const uint8_t stops[256] = {
	['\n'] = STOP_BLOCK | STOP_FLOW,
	['\t'] = STOP_BLOCK | STOP_FLOW,
	[':'] = STOP_BLOCK | STOP_FLOW,
	['#'] = STOP_BLOCK | STOP_FLOW,
	[','] = STOP_FLOW,
	['?'] = STOP_FLOW,
	['['] = STOP_FLOW,
	[']'] = STOP_FLOW,
	['{'] = STOP_FLOW,
	['}'] = STOP_FLOW,
};

/* True if the byte may follow a '-' that starts a plain scalar. */
static bool is_dashed(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
	       (c >= 'a' && c <= 'z') || (c && strchr("-./_", c));
}

/*
 * Returns 1 if the ':' at p ends a key, 0 if not, -1 if parsers differ or a tab
 * follows.
 */
static int ends_key(const char *p, bool flow)
{
	if (p[1] == ' ' || p[1] == '\n')
		return 1;
	if (p[1] == '\t' || (flow && strchr(",?[]{}", p[1])))
		return -1;
	return 0;
}

/* Marks the bytes of a block for which STOP_BLOCK is set. */
static struct block block_stops(struct block b)
{
	return block_or(block_or(block_is(b, '\n'), block_is(b, '\t')),
			block_or(block_is(b, ':'), block_is(b, '#')));
}

/* Returns the first byte from p on that may end a plain scalar. */
static const char *skip_plain(const char *p, const char *end, bool flow)
{
	uint8_t mask = flow ? STOP_FLOW : STOP_BLOCK;

	while (!flow && end - p >= BLOCK) {
		unsigned n = block_first(block_stops(block_read(p)));

		p += n;
		if (n < BLOCK)
			return p;
	}
	while (!(stops[(unsigned char)*p] & mask))
		p++;
	return p;
}

/* Returns the byte that ends the plain scalar at p, or NULL. end is the end of
 * the text. */
static const char *plain_stop(const char *p, const char *end, bool flow)
{
	int ends;

	for (;; p++) {
		p = skip_plain(p, end, flow);
		switch (*p) {
		case ':':
			ends = ends_key(p, flow);
			if (ends)
				return ends > 0 ? p : NULL;
			break;
		case '#':
			if (p[-1] == ' ')
				return p;
			break;
		case '\t':
		case '?':
			return NULL;
		default:
			return p;
		}
	}
}

/* Copies len bytes to the strings. Always copies 16 bytes inline if the text
 * has as many, because most scalars are not longer. */
static void copy(struct fast *fast, const char *from, size_t len)
{
	char *to = fast->strings;

	if ((size_t)(fast->end - from) < 16) {
		memcpy(to, from, len);
	} else {
		memcpy(to, from, 16);
		if (len > 16)
			memcpy(to + 16, from + 16, len - 16);
	}
	fast->strings += len;
}

static void finish(struct fast *fast, struct fast_text *text)
{
	text->len = (uint32_t)(fast->strings - text->value);
	*fast->strings++ = '\0';
}

static bool scan_plain(struct fast *fast, const char *p, bool flow,
		       struct fast_text *text)
{
	const char *stop = plain_stop(p, fast->end, flow);
	const char *end = stop;

	if (!stop)
		return false;
	while (end[-1] == ' ')
		end--;
	text->stop = stop;
	text->end = end;
	text->flags = 0;
	text->plain = true;
	copy(fast, p, (size_t)(end - p));
	return true;
}

/*
 * Returns the byte for a backslash followed by c, or '\0' if the escape is not
 * a simple one.
 */
static char escaped(char c)
{
	switch (c) {
	case 'n':
		return '\n';
	case 't':
		return '\t';
	case 'r':
		return '\r';
	case '"':
	case '\\':
		return c;
	default:
		return '\0';
	}
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/*
 * Folds the line end at p: removes blanks around it (in the copied text only
 * from floor on) and appends a blank, or a line end for each blank line after
 * it. Returns the position of the next text, or NULL if libyaml has to read it.
 */
static const char *fold(struct fast *fast, const char *p, const char *floor)
{
	uint32_t n = 0;

	while (fast->strings > floor && is_blank(fast->strings[-1]))
		fast->strings--;
	for (p++; p < fast->end; p++) {
		/* The line may be --- or ... */
		if (p[-1] == '\n' && (*p == '-' || *p == '.'))
			return NULL;
		if (*p == '\n')
			n++;
		else if (!is_blank(*p))
			break;
	}
	if (p == fast->end)
		return NULL;
	memset(fast->strings, n ? '\n' : ' ', n ? n : 1);
	fast->strings += n ? n : 1;
	return p;
}

static const char *scan_double(struct fast *fast, const char *p, bool *folded)
{
	const char *floor = fast->strings;

	while (p) {
		const char *from = p;

		while (*p != '"' && *p != '\\' && *p != '\n')
			p++;
		copy(fast, from, (size_t)(p - from));
		if (*p == '"')
			return p + 1;
		if (*p == '\n') {
			*folded = true;
			p = fold(fast, p, floor);
			continue;
		}
		if (!escaped(p[1]))
			return NULL;
		*fast->strings++ = escaped(p[1]);
		floor = fast->strings;
		p += 2;
	}
	return NULL;
}

static const char *scan_single(struct fast *fast, const char *p, bool *folded)
{
	const char *floor = fast->strings;

	while (p) {
		const char *from = p;

		while (*p != '\'' && *p != '\n')
			p++;
		copy(fast, from, (size_t)(p - from));
		if (*p == '\n') {
			*folded = true;
			p = fold(fast, p, floor);
			continue;
		}
		if (p[1] != '\'')
			return p + 1;
		*fast->strings++ = '\'';
		p += 2;
	}
	return NULL;
}

bool fast_scan(struct fast *fast, const char *p, bool flow,
	       struct fast_text *text)
{
	text->start = p;
	text->value = fast->strings;
	text->folded = false;
	switch ((enum fast_start)fast_starts[(unsigned char)*p]) {
	case START_DASH:
		if (!is_dashed(p[1]))
			return false;
		/* fall through */
	case START_PLAIN:
		if (!scan_plain(fast, p, flow, text))
			return false;
		finish(fast, text);
		return true;
	case START_DOUBLE:
		text->end = scan_double(fast, p + 1, &text->folded);
		break;
	case START_SINGLE:
		text->end = scan_single(fast, p + 1, &text->folded);
		break;
	default:
		return false;
	}
	if (!text->end)
		return false;
	finish(fast, text);
	text->stop = fast_blanks(text->end);
	text->flags = NODE_QUOTED;
	text->plain = false;
	return true;
}

/* --- values --------------------------------------------------------------- */

enum {
	WORD_MAX = 5, /* length of false or -.inf, the longest words */
	SMALL_MAX = 18,
};

/* True for a quoted text, or one that cannot be a number or a word. */
static bool is_string(const struct fast_text *text)
{
	unsigned char first = (unsigned char)*text->value;

	return !text->plain || (text->len > WORD_MAX && first > '9') ||
	       !scalar_may_resolve(first);
}

/* True for an integer as JSON writes it. */
static bool is_small_whole(const struct fast_text *text)
{
	const char *p = text->value;
	uint32_t n = text->len;

	if (n > SMALL_MAX || *p < '0' || *p > '9' || (*p == '0' && n > 1))
		return false;
	while (*p >= '0' && *p <= '9')
		p++;
	return !*p;
}

static bool fill_resolved(struct fast *fast, struct node *node,
			  const struct fast_text *text)
{
	struct scalar scalar;

	scalar_resolve(text->value, text->len, NULL, &scalar);
	if (scalar.kind != SCALAR_STRING)
		return scalar_to_node(fast->arena, &scalar, text->value,
				      text->len, node);
	node->type = NODE_STRING;
	return true;
}

bool fast_fill(struct fast *fast, struct node *node,
	       const struct fast_text *text)
{
	node->flags = text->flags;
	node->start = fast_offset(fast, text->start);
	node->end = fast_offset(fast, text->end);
	node->str = text->value;
	node->len = text->len;
	fast->last_end = node->end;
	if (is_string(text))
		node->type = NODE_STRING;
	else if (is_small_whole(text))
		node->type = NODE_INT;
	else
		return fill_resolved(fast, node, text);
	return true;
}

/* --- keys ----------------------------------------------------------------- */

static bool is_plain_key(const struct fast_text *text)
{
	struct scalar scalar;

	if (text->len == 2 && !memcmp(text->value, "<<", 2))
		return false;
	if (is_string(text))
		return true;
	scalar_resolve(text->value, text->len, NULL, &scalar);
	return scalar.kind == SCALAR_STRING;
}

/* Returns one of 64 bits; keys of one map rarely share a bit. */
static uint64_t key_bit(const struct fast_text *text)
{
	unsigned char first = 0, last = 0;

	if (text->len) {
		first = (unsigned char)text->value[0];
		last = (unsigned char)text->value[text->len - 1];
	}
	return (uint64_t)1 << ((first * 5u + last * 11u + text->len * 3u) & 63);
}

static bool has_key(struct fast *fast, struct node *map,
		    const struct fast_text *text)
{
	/* node_find() compares tags first, and gives a large map an index. */
	if (map->len > 16)
		return node_find(fast->arena, map, text->value, text->len);
	for (const struct node *child = map->first; child; child = child->next)
		if (child->key_len == text->len &&
		    !memcmp(child->key, text->value, text->len))
			return true;
	return false;
}

bool fast_take_key(struct fast *fast, struct node *map, uint64_t *seen,
		   const struct fast_text *text, struct fast_key *key)
{
	uint64_t bit = key_bit(text);

	if (text->stop - text->start > FAST_KEY_MAX || text->folded ||
	    (text->plain && !is_plain_key(text)))
		return false;
	if ((*seen & bit || map->len > 16) && has_key(fast, map, text))
		return false;
	*seen |= bit;
	key->text = text->value;
	key->len = text->len;
	key->start = fast_offset(fast, text->start);
	key->end = fast_offset(fast, text->end);
	return true;
}
