/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commas need no state: a member follows another one unless the byte before it
 * opened the map or list. Most text needs no escape, so sixteen bytes are
 * checked at a time and runs are copied whole.
 */
#include "json_stream.h"

#include <string.h>

#include "base/block.h"
#include "base/text.h"
#include "lint/term/escape.h"

static void add_escape(struct buf *out, uint32_t c)
{
	if (c >= 0x10000) {
		c -= 0x10000;
		buf_addf(out, "\\u%04X", 0xd800 + (c >> 10));
		c = 0xdc00 + (c & 0x3ff);
	}
	buf_addf(out, "\\u%04X", c);
}

static bool is_plain_block(struct block b)
{
	return !block_any(
		block_or(block_or(block_below(b, 0x20), block_is(b, 0x7f)),
			 block_or(block_is(b, '"'), block_is(b, '\\'))));
}

/* Returns the number of bytes that a string may contain unescaped. */
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

static void add_ascii(struct buf *out, unsigned char c)
{
	static const char from[] = "\"\\\n\t\r\b\f", to[] = "\"\\ntrbf";
	const char *found = c ? strchr(from, c) : NULL;

	if (found) {
		buf_addc(out, '\\');
		buf_addc(out, to[found - from]);
	} else {
		add_escape(out, c);
	}
}

/* Adds the character at s, from 0x80 on or a delete; returns its length. */
static size_t add_character(struct buf *out, const char *s, size_t len)
{
	struct escape escape;

	escape_read(&escape, s, len);
	if (escape.text != escape.stand_in)
		buf_add(out, s, escape.used);
	else if (utf8_length(s, len))
		add_escape(out, utf8_code_point(s, escape.used));
	else
		buf_adds(out, "\xef\xbf\xbd");
	return escape.used;
}

static void begin(struct buf *out, const char *key)
{
	char last = out->len ? out->data[out->len - 1] : '{';

	/* At the start of a line, or after the caller's own text, no separator
	 * is needed. */
	if (last != '{' && last != '[' && last != '\n' && last != ':')
		buf_addc(out, ',');
	if (!key)
		return;
	buf_addc(out, '"');
	buf_adds(out, key);
	buf_addc(out, '"');
	buf_addc(out, ':');
}

void stream_open(struct buf *out, const char *key, char bracket)
{
	begin(out, key);
	buf_addc(out, bracket);
}

void stream_close(struct buf *out, char bracket)
{
	buf_addc(out, bracket);
}

void stream_text(struct buf *out, const char *key, const char *s)
{
	size_t len = strlen(s), n;

	begin(out, key);
	buf_addc(out, '"');
	for (; len; s += n, len -= n) {
		n = plain_length(s, len);
		if (n) {
			buf_add(out, s, n);
		} else if ((unsigned char)*s >= 0x7f) {
			n = add_character(out, s, len);
		} else {
			n = 1;
			add_ascii(out, (unsigned char)*s);
		}
	}
	buf_addc(out, '"');
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
	begin(out, key);
	buf_add(out, at, (size_t)(digits + sizeof(digits) - at));
}

void stream_bool(struct buf *out, const char *key, bool value)
{
	begin(out, key);
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

	begin(out, key);
	for (; len; json += n, len -= n) {
		for (n = 0; n < len && (unsigned char)json[n] < 0x7f;)
			n++;
		buf_add(out, json, n);
		if (!n)
			n = add_character(out, json, len);
	}
}
