/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes JSON. Commas need no state: a comma precedes a member unless the
 * previous byte opened the map or list. Most text needs no escapes, so sixteen
 * bytes are checked at once, and runs without escapes are copied as a whole.
 */
#include "base/json_stream.h"

#include <string.h>

#include "base/block.h"
#include "base/text.h"

static bool is_plain_block(struct block b)
{
	return !block_any(
		block_or(block_or(block_below(b, 0x20), block_is(b, 0x7f)),
			 block_or(block_is(b, '"'), block_is(b, '\\'))));
}

/* Returns the number of bytes at the start of s that need no escapes. */
static size_t plain_length(const char *s, size_t len)
{
	size_t i = 0;

	while (len - i >= BLOCK && is_plain_block(block_read(s + i)))
		i += BLOCK;
	/* The last block may overlap the one before. */
	if (i && len - i < BLOCK && is_plain_block(block_read(s + len - BLOCK)))
		return len;
	while (i < len && s[i] >= 0x20 && s[i] < 0x7f && s[i] != '"' &&
	       s[i] != '\\')
		i++;
	return i;
}

static char *set_escape(char *out, unsigned unit)
{
	out[0] = '\\';
	out[1] = 'u';
	for (int i = 0; i < 4; i++)
		out[2 + i] = "0123456789ABCDEF"[unit >> (12 - 4 * i) & 15];
	return out + 6;
}

/* Writes a code point as escapes. One beyond U+FFFF is two units of UTF-16. */
static char *set_escapes(char *out, uint32_t c)
{
	if (c < 0x10000)
		return set_escape(out, c);
	out = set_escape(out, 0xd800 + ((c - 0x10000) >> 10));
	return set_escape(out, 0xdc00 + (c & 0x3ff));
}

size_t stream_character(const char *s, size_t len, char out[STREAM_CHARACTER])
{
	static const char from[] = "\"\\\n\t\r\b\f", to[] = "\"\\ntrbf";
	size_t used = utf8_length(s, len);
	uint32_t c = used ? utf8_code_point(s, used) : 0xfffd;
	const char *found = c && c < 0x80 ? strchr(from, (int)c) : NULL;

	if (found) {
		*out++ = '\\';
		*out++ = to[found - from];
	} else {
		out = text_is_hidden(c) ? set_escapes(out, c)
					: utf8_put(out, c);
	}
	*out = '\0';
	return used ? used : 1;
}

/* Adds the character at s; returns its length. */
static size_t add_character(struct buf *out, const char *s, size_t len)
{
	char text[STREAM_CHARACTER];
	size_t used = stream_character(s, len, text);

	buf_adds(out, text);
	return used;
}

static void add_string(struct buf *out, const char *s, size_t len)
{
	size_t n;

	buf_addc(out, '"');
	for (; len; s += n, len -= n) {
		n = plain_length(s, len);
		if (n)
			buf_add(out, s, n);
		else
			n = add_character(out, s, len);
	}
	buf_addc(out, '"');
}

void stream_key(struct buf *out, const char *key)
{
	char last = out->len ? out->data[out->len - 1] : '{';

	/* At the start of a line, or after text that the caller wrote, no comma
	 * is needed. */
	if (last != '{' && last != '[' && last != '\n' && last != ':')
		buf_addc(out, ',');
	if (!key)
		return;
	add_string(out, key, strlen(key));
	buf_addc(out, ':');
}

void stream_open(struct buf *out, const char *key, char bracket)
{
	stream_key(out, key);
	buf_addc(out, bracket);
}

void stream_close(struct buf *out, char bracket)
{
	buf_addc(out, bracket);
}

void stream_bytes(struct buf *out, const char *key, const char *s, size_t len)
{
	stream_key(out, key);
	add_string(out, s, len);
}

void stream_text(struct buf *out, const char *key, const char *s)
{
	stream_bytes(out, key, s, strlen(s));
}

void stream_int(struct buf *out, const char *key, int64_t value)
{
	uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
	char digits[24], *at = digits + sizeof(digits);

	do {
		*--at = (char)('0' + left % 10);
		left /= 10;
	} while (left);
	if (value < 0)
		*--at = '-';
	stream_key(out, key);
	buf_add(out, at, (size_t)(digits + sizeof(digits) - at));
}

void stream_bool(struct buf *out, const char *key, bool value)
{
	stream_key(out, key);
	buf_adds(out, value ? "true" : "false");
}

void stream_hex(struct buf *out, const char *key, uint64_t value)
{
	char text[17];

	for (unsigned i = 0; i < 16; i++)
		text[i] = "0123456789abcdef"[value >> (60 - 4 * i) & 15];
	text[16] = '\0';
	stream_text(out, key, text);
}

void stream_json(struct buf *out, const char *key, const char *json)
{
	size_t len = strlen(json), n;

	stream_key(out, key);
	for (; len; json += n, len -= n) {
		for (n = 0; n < len && (unsigned char)json[n] < 0x7f;)
			n++;
		buf_add(out, json, n);
		if (!n)
			n = add_character(out, json, len);
	}
}
