/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JSON reader: one RFC 8259 value into a node tree with the byte span of
 * every key and value. It accepts what Go's encoding/json accepts, with one
 * difference: bytes that are not UTF-8 are refused, not replaced.
 *
 * There is no recursion: the innermost open map or seq is at hand and its
 * parent pointers are the stack. Every count is checked before memory is
 * taken. A text that refuses is reported once, and reading ends there.
 *
 * Strings are scanned once for their end, eight bytes at a time, then copied
 * once into pooled text (they need a NUL and the source has none to give).
 */
#include <endian.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "doc/build.h"
#include "doc/load.h"

enum {
	POOL_FIRST = 256, /* bytes of the first text pool; doubles each time */
	POOL_LARGEST = 1 << 16,
	/* Fewer digits than this without an exponent always fit a double. */
	DIGITS_SAFE = 300,
};

struct json {
	struct loader *loader;
	const char *text; /* the source's first byte: spans count from here */
	const char *at, *end;
	struct node *open; /* innermost map or seq not yet closed */
	bool fresh;	   /* nothing was read yet inside of open */
	uint32_t depth, nodes;
	char *pool, *pool_end; /* room for text */
	size_t pool_size;
};

struct token {
	const char *start, *end; /* quotes included */
	const char *str;
	uint32_t len;
};

static uint32_t json_offset(const struct json *json, const char *p)
{
	return (uint32_t)(p - json->text);
}

static void json_issue(struct json *json, enum load_issue_kind kind,
		       const struct token *span, const char *text)
{
	struct load_issue issue = {
		.kind = kind,
		.start = json_offset(json, span->start),
		.end = json_offset(json, span->end),
		.text = text,
	};

	if (json->loader->issue)
		json->loader->issue(json->loader->context, &issue);
}

static bool json_refuse(struct json *json, const char *start, const char *end,
			const char *text)
{
	struct token span = {.start = start, .end = end};

	json_issue(json, LOAD_SYNTAX, &span, text);
	return false;
}

/* Refuse at p: the character there, or the end of the text. */
static bool json_refuse_at(struct json *json, const char *p, const char *text)
{
	size_t len = 0;

	if (p < json->end) {
		len = utf8_length(p, (size_t)(json->end - p));
		len = len ? len : 1;
	}
	return json_refuse(json, p, p + len, text);
}

static bool json_refuse_open(struct json *json)
{
	const char *start = json->text + json->open->start;

	return json_refuse(json, start, start + 1,
			   node_is_map(json->open)
				   ? "object is not closed before the text ends"
				   : "list is not closed before the text ends");
}

/* The next byte that is no white space, or -1 at the end. */
static int json_peek(struct json *json)
{
	const char *p = json->at;

	while (p < json->end &&
	       (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r'))
		p++;
	json->at = p;
	return p < json->end ? (unsigned char)*p : -1;
}

static char *json_room(struct json *json, size_t size)
{
	char *room;

	if ((size_t)(json->pool_end - json->pool) < size) {
		size_t left = (size_t)(json->end - json->at) + 1;
		size_t want = json->pool_size;

		if (want > left)
			want = left;
		if (want < size)
			want = size;
		json->pool = arena_alloc(json->loader->arena, want);
		json->pool_end = json->pool + want;
		if (json->pool_size < POOL_LARGEST)
			json->pool_size *= 2;
	}
	room = json->pool;
	json->pool += size;
	return room;
}

static const char *json_copy(struct json *json, const char *s, size_t len)
{
	char *copy = json_room(json, len + 1);

	memcpy(copy, s, len);
	copy[len] = '\0';
	return copy;
}

/* --- strings -------------------------------------------------------------- */

#define EACH_BYTE(byte) (UINT64_C(0x0101010101010101) * (byte))

/*
 * The first byte from p on that is a quote, a backslash, a control character
 * or not ASCII; end when there is none. A borrow can only mark bytes above
 * one that is marked rightly, and the lowest mark is the first byte.
 */
static const char *scan_plain(const char *p, const char *end)
{
	for (; end - p >= 8; p += 8) {
		uint64_t w, marks;

		memcpy(&w, p, sizeof(w));
		w = le64toh(w);
		marks = w | (w - EACH_BYTE(0x20)) |
			((w ^ EACH_BYTE('"')) - EACH_BYTE(1)) |
			((w ^ EACH_BYTE('\\')) - EACH_BYTE(1));
		marks &= EACH_BYTE(0x80);
		if (marks)
			return p + (__builtin_ctzll(marks) >> 3);
	}
	while (p < end && (unsigned char)*p >= 0x20 &&
	       (unsigned char)*p < 0x80 && *p != '"' && *p != '\\')
		p++;
	return p;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Value of four hexadecimal digits, or -1. */
static int32_t hex_quad(const char *p, const char *end)
{
	int32_t value = 0;

	if (end - p < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		int digit = hex_digit(p[i]);

		if (digit < 0)
			return -1;
		value = value << 4 | digit;
	}
	return value;
}

/* p is at a backslash: the byte behind the escape, NULL when refused. */
static const char *scan_escape(struct json *json, const char *p)
{
	if (json->end - p < 2)
		return json->end;
	if (p[1] == 'u') {
		if (hex_quad(p + 2, json->end) >= 0)
			return p + 6;
		json_refuse(json, p, p + 2,
			    "expected four hexadecimal digits after '\\u'");
		return NULL;
	}
	if (p[1] && strchr("\"\\/bfnrt", p[1]))
		return p + 2;
	json_refuse(json, p, p + 2, "unknown escape in a string");
	return NULL;
}

/* p is at a byte that scan_plain() stops at, no quote; the byte behind it. */
static const char *scan_special(struct json *json, const char *p)
{
	size_t len;

	if (*p == '\\')
		return scan_escape(json, p);
	if (*p == '\n' || *p == '\r') {
		json_refuse(json, json->at, p,
			    "string is not closed before the line ends");
		return NULL;
	}
	if ((unsigned char)*p < 0x20) {
		json_refuse_at(json, p,
			       "control character in a string: write an "
			       "escape");
		return NULL;
	}
	len = utf8_length(p, (size_t)(json->end - p));
	if (!len) {
		json_refuse_at(json, p, "invalid UTF-8 in a string");
		return NULL;
	}
	return p + len;
}

static char *put_utf8(char *out, uint32_t c)
{
	if (c < 0x80) {
		*out++ = (char)c;
		return out;
	}
	if (c < 0x800) {
		*out++ = (char)(0xc0 | c >> 6);
	} else {
		if (c < 0x10000) {
			*out++ = (char)(0xe0 | c >> 12);
		} else {
			*out++ = (char)(0xf0 | c >> 18);
			*out++ = (char)(0x80 | (c >> 12 & 0x3f));
		}
		*out++ = (char)(0x80 | (c >> 6 & 0x3f));
	}
	*out++ = (char)(0x80 | (c & 0x3f));
	return out;
}

/*
 * \uXXXX at p, checked before, and its other half when the two are a pair.
 * Half a pair becomes U+FFFD, as Go has it.
 */
static const char *decode_unicode(const char *p, const char *end, char **out)
{
	int32_t c = hex_quad(p + 2, end);
	int32_t low;

	p += 6;
	if (c >= 0xd800 && c <= 0xdfff) {
		low = -1;
		if (c < 0xdc00 && end - p >= 6 && p[0] == '\\' && p[1] == 'u')
			low = hex_quad(p + 2, end);
		if (low >= 0xdc00 && low <= 0xdfff) {
			c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
			p += 6;
		} else {
			c = 0xfffd;
		}
	}
	*out = put_utf8(*out, (uint32_t)c);
	return p;
}

/* The bytes from p to end, whose escapes were checked before, into out. */
static char *decode_string(const char *p, const char *end, char *out)
{
	static const char letters[] = "\"\\/bfnrt";
	static const char values[] = "\"\\/\b\f\n\r\t";

	while (p < end) {
		const char *stop = memchr(p, '\\', (size_t)(end - p));
		size_t len = (size_t)((stop ? stop : end) - p);

		memcpy(out, p, len);
		out += len;
		p += len;
		if (!stop)
			break;
		if (p[1] == 'u') {
			p = decode_unicode(p, end, &out);
			continue;
		}
		*out++ = values[strchr(letters, p[1]) - letters];
		p += 2;
	}
	*out = '\0';
	return out;
}

/* The string whose opening quote is at json->at. */
static bool json_string(struct json *json, struct token *token)
{
	const char *start = json->at + 1;
	const char *p = start;
	bool escapes = false;
	char *out;

	while ((p = scan_plain(p, json->end)) < json->end && *p != '"') {
		escapes |= *p == '\\';
		p = scan_special(json, p);
		if (!p)
			return false;
	}
	if (p == json->end)
		return json_refuse(json, json->at, p,
				   "string is not closed before the text ends");
	token->start = json->at;
	token->end = p + 1;
	token->len = (uint32_t)(p - start);
	if (escapes) {
		/* Decoding never makes a string longer. */
		out = json_room(json, token->len + 1);
		token->str = out;
		token->len = (uint32_t)(decode_string(start, p, out) - out);
	} else {
		token->str = json_copy(json, start, token->len);
	}
	json->at = p + 1;
	return true;
}

/* --- values --------------------------------------------------------------- */

/* The first byte at or behind p that is no digit. */
static const char *skip_digits(const char *p, const char *end)
{
	while (p < end && *p >= '0' && *p <= '9')
		p++;
	return p;
}

static bool is_any(const char *p, const char *end, char a, char b)
{
	return p < end && (*p == a || *p == b);
}

/* An error inside of a number: everything of it that was good is shown. */
static bool refuse_number(struct json *json, const char *p, const char *text)
{
	return json_refuse(json, json->at, p < json->end ? p + 1 : p, text);
}

/* End of the number at json->at, NULL when refused; *whole: an integer. */
static const char *scan_number(struct json *json, bool *whole)
{
	const char *p = json->at + (*json->at == '-');
	const char *digits = p;

	p = skip_digits(digits, json->end);
	if (p == digits) {
		refuse_number(json, p, "expected a digit in a number");
		return NULL;
	}
	if (*digits == '0' && p > digits + 1) {
		json_refuse(json, json->at, p, "number with a leading zero");
		return NULL;
	}
	*whole = true;
	if (is_any(p, json->end, '.', '.')) {
		*whole = false;
		digits = p + 1;
		p = skip_digits(digits, json->end);
	}
	if (p > digits && is_any(p, json->end, 'e', 'E')) {
		*whole = false;
		digits = p + 1 + is_any(p + 1, json->end, '+', '-');
		p = skip_digits(digits, json->end);
	}
	if (p == digits) {
		refuse_number(json, p, "expected a digit in a number");
		return NULL;
	}
	return p;
}

/*
 * Digits are kept as written, but a number that no double can hold is
 * refused, as Go does. Only long ones and those with an exponent can be that
 * large, so the conversion is rare.
 */
static bool json_number(struct json *json, struct node *node)
{
	bool whole;
	const char *start = json->at;
	const char *p = scan_number(json, &whole);

	if (!p)
		return false;
	node->type = whole ? NODE_INT : NODE_FLOAT;
	node->len = (uint32_t)(p - start);
	node->str = json_copy(json, start, node->len);
	if ((!whole || node->len > DIGITS_SAFE) &&
	    isinf(strtod(node->str, NULL)))
		return json_refuse(json, start, p, "number is too large");
	json->at = p;
	return true;
}

static bool json_word(struct json *json, struct node *node)
{
	static const struct {
		const char *word;
		uint8_t len, type;
	} words[] = {
		{"true", 4, NODE_BOOL},
		{"false", 5, NODE_BOOL},
		{"null", 4, NODE_NULL},
	};
	const char *p = json->at;
	size_t left = (size_t)(json->end - p);

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (*p != *words[i].word)
			continue;
		if (left < words[i].len ||
		    memcmp(p, words[i].word, words[i].len))
			break;
		node->type = words[i].type;
		node->str = words[i].word;
		node->len = words[i].len;
		json->at += words[i].len;
		return true;
	}
	while (p < json->end &&
	       ((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z')))
		p++;
	if (p == json->at)
		return json_refuse_at(json, p, "expected a value");
	return json_refuse(json, json->at, p,
			   "unknown word: expected true, false, null or a "
			   "string in double quotes");
}

static bool json_open(struct json *json, struct node *node, enum node_type type)
{
	if (++json->depth > json->loader->limits->depth)
		return json_refuse_at(json, json->at, "nested too deeply");
	node->type = type;
	node->flags = NODE_FLOW;
	json->open = node;
	json->fresh = true;
	json->at++;
	return true;
}

static void json_close(struct json *json)
{
	json->at++;
	json->open->end = json_offset(json, json->at);
	json->open = json->open->parent;
	json->depth--;
	json->fresh = false;
}

/* The value at json->at; a map or seq is only opened. */
static bool json_value(struct json *json, struct node *node)
{
	struct token token;

	node->start = json_offset(json, json->at);
	json->fresh = false;
	switch (*json->at) {
	case '{':
		return json_open(json, node, NODE_MAP);
	case '[':
		return json_open(json, node, NODE_SEQ);
	case '"':
		if (!json_string(json, &token))
			return false;
		node->type = NODE_STRING;
		node->flags = NODE_QUOTED;
		node->str = token.str;
		node->len = token.len;
		break;
	case '-':
	case '0':
	case '1':
	case '2':
	case '3':
	case '4':
	case '5':
	case '6':
	case '7':
	case '8':
	case '9':
		if (!json_number(json, node))
			return false;
		break;
	default:
		if (!json_word(json, node))
			return false;
	}
	node->end = json_offset(json, json->at);
	return true;
}

static struct node *json_node(struct json *json)
{
	if (json->nodes >= json->loader->limits->nodes) {
		json_refuse_at(json, json->at, "too many values");
		return NULL;
	}
	json->nodes++;
	return node_new(json->loader->arena, NODE_NULL);
}

static bool json_item(struct json *json)
{
	struct node *node = json_node(json);

	if (!node)
		return false;
	node->key_start = node->key_end = json_offset(json, json->at);
	node_append(json->open, node);
	return json_value(json, node);
}

/*
 * The node for a key. A key that is there already gives up its value and
 * keeps its place, so that n repetitions cost no more than n keys.
 */
static struct node *json_member(struct json *json, const struct token *key)
{
	struct arena *arena = json->loader->arena;
	struct node *old = node_find(arena, json->open, key->str, key->len);
	struct node *node = json_node(json);

	if (!node)
		return NULL;
	if (old) {
		json_issue(json, LOAD_DUPLICATE_KEY, key,
			   "key is given twice: the last value counts");
		*node = (struct node){.key = old->key,
				      .key_len = old->key_len,
				      .index = old->index,
				      .next = old->next,
				      .parent = old->parent};
		*old = *node;
		node = old;
	} else {
		node->key = key->str;
		node->key_len = key->len;
		node_append(json->open, node);
	}
	node->key_start = json_offset(json, key->start);
	node->key_end = json_offset(json, key->end);
	return node;
}

static bool json_pair(struct json *json)
{
	struct token key;
	struct node *node;
	int c = json_peek(json);

	if (c != '"')
		return json_refuse_at(json, json->at,
				      "expected a key in double quotes");
	if (!json_string(json, &key))
		return false;
	c = json_peek(json);
	if (c < 0)
		return json_refuse_open(json);
	if (c != ':')
		return json_refuse_at(json, json->at,
				      "expected ':' after a key");
	json->at++;
	if (json_peek(json) < 0)
		return json_refuse_open(json);
	node = json_member(json, &key);
	return node && json_value(json, node);
}

/* One more value inside of the innermost map or seq, or its end. */
static bool json_step(struct json *json)
{
	bool map = json->open->type == NODE_MAP;
	int c = json_peek(json);
	const char *comma = json->at;

	if (c == (map ? '}' : ']')) {
		json_close(json);
		return true;
	}
	if (c >= 0 && !json->fresh) {
		if (c != ',')
			return json_refuse_at(
				json, comma,
				map ? "expected ',' or '}' after a value of "
				      "the object"
				    : "expected ',' or ']' after an item of "
				      "the list");
		json->at++;
		c = json_peek(json);
		if (c == '}' || c == ']')
			return json_refuse(json, comma, comma + 1,
					   "comma behind the last value");
	}
	if (c < 0)
		return json_refuse_open(json);
	return map ? json_pair(json) : json_item(json);
}

struct node *json_read(struct loader *loader, uint32_t start, uint32_t end,
		       uint32_t *used)
{
	const char *text = loader->source->text;
	struct json json = {
		.loader = loader,
		.text = text,
		.at = text + start,
		.end = text + end,
		.pool_size = POOL_FIRST,
	};
	struct node *root = NULL;
	bool good = true;

	if (json_peek(&json) >= 0) {
		root = json_node(&json);
		good = root && json_value(&json, root);
	}
	while (good && json.open)
		good = json_step(&json);
	*used = json_offset(&json, json.at);
	return good ? root : NULL;
}
