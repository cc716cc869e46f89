/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commas need no state: a member follows another one unless the byte before
 * it opened the map or list. Most text needs no escape, so that sixteen bytes
 * at a time are looked at and runs are copied whole.
 */
#include "json_stream.h"

#include <stdio.h>
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

static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

static bool is_plain_block(struct block b)
{
	return !block_any(
		block_or(block_or(block_below(b, 0x20), block_is(b, 0x7f)),
			 block_or(block_is(b, '"'), block_is(b, '\\'))));
}

/* The same as copy_plain(), byte by byte. */
static size_t copy_few(char *to, const char *s, size_t len)
{
	size_t i = 0;

	for (; i < len && is_plain((unsigned char)s[i]); i++)
		to[i] = s[i];
	return i;
}

/* Bytes that a string may hold as they are, copied to where there is room for
 * len bytes; how many. */
static size_t copy_plain(char *to, const char *s, size_t len)
{
	for (size_t i = 0; len >= BLOCK; i += BLOCK) {
		struct block block;

		/* The last block may begin in the one before. */
		if (i > len - BLOCK)
			i = len - BLOCK;
		block = block_read(s + i);
		if (!is_plain_block(block))
			return i + copy_few(to + i, s + i, BLOCK);
		memcpy(to + i, &block, BLOCK);
		if (i == len - BLOCK)
			return len;
	}
	return copy_few(to, s, len);
}

/* Room for so many bytes after what is there. */
static char *reserve(struct buf *out, size_t n)
{
	if (out->len + n >= out->size)
		buf_grow(out, n);
	return out->data + out->len;
}

/* What is there now ends before at. */
static void end_at(struct buf *out, char *at)
{
	*at = '\0';
	out->len = (size_t)(at - out->data);
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

/* The character at s, from 0x80 on or a delete; returns its bytes. */
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

/* From the first byte that a string may not hold as it is. */
static void add_special(struct buf *out, const char *s, size_t len)
{
	size_t step;

	while (len) {
		step = 1;
		if ((unsigned char)*s < 0x7f)
			add_ascii(out, (unsigned char)*s);
		else
			step = add_character(out, s, len);
		s += step;
		len -= step;
		step = copy_plain(reserve(out, len), s, len);
		end_at(out, out->data + out->len + step);
		s += step;
		len -= step;
	}
}

/* at has room for the key and 4 bytes; returns the address after it. */
static char *put_key(const struct buf *out, char *at, const char *key,
		     size_t len)
{
	char last = out->len ? out->data[out->len - 1] : '{';

	/* A line, or what the caller wrote before it, needs no separator. */
	if (last != '{' && last != '[' && last != '\n' && last != ':')
		*at++ = ',';
	if (!key)
		return at;
	*at++ = '"';
	memcpy(at, key, len);
	at += len;
	*at++ = '"';
	*at++ = ':';
	return at;
}

/* Write the key, and give back an address with room for n bytes. */
static char *begin(struct buf *out, const char *key, size_t n)
{
	size_t len = key ? strlen(key) : 0;

	return put_key(out, reserve(out, len + 4 + n), key, len);
}

void stream_open(struct buf *out, const char *key, char bracket)
{
	char *at = begin(out, key, 1);

	*at++ = bracket;
	end_at(out, at);
}

void stream_close(struct buf *out, char bracket)
{
	buf_addc(out, bracket);
}

void stream_text(struct buf *out, const char *key, const char *s)
{
	size_t len = strlen(s), plain;
	char *at = begin(out, key, len + 2);

	*at++ = '"';
	plain = copy_plain(at, s, len);
	at += plain;
	if (plain == len) {
		*at++ = '"';
		end_at(out, at);
		return;
	}
	end_at(out, at);
	add_special(out, s + plain, len - plain);
	buf_addc(out, '"');
}

void stream_int(struct buf *out, const char *key, int64_t value)
{
	uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
	char digits[24], *at = begin(out, key, sizeof(digits));
	size_t i = sizeof(digits);

	do {
		digits[--i] = (char)('0' + left % 10);
		left /= 10;
	} while (left);
	if (value < 0)
		digits[--i] = '-';
	memcpy(at, digits + i, sizeof(digits) - i);
	end_at(out, at + sizeof(digits) - i);
}

void stream_bool(struct buf *out, const char *key, bool value)
{
	end_at(out, begin(out, key, 0));
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
	end_at(out, begin(out, key, 0));
	stream_visible(out, json, strlen(json));
}

/* Bytes before the first from 0x7f on. */
static size_t seen_length(const char *s, size_t len)
{
	size_t i = 0;

	for (; len - i >= BLOCK; i += BLOCK) {
		struct block block = block_read(s + i);

		if (block_any(block_or(block_below(block, 0),
				       block_is(block, 0x7f))))
			break;
	}
	while (i < len && (unsigned char)s[i] < 0x7f)
		i++;
	return i;
}

void stream_visible(struct buf *out, const char *json, size_t len)
{
	while (len) {
		size_t n = seen_length(json, len);

		buf_add(out, json, n);
		if (n < len)
			n += add_character(out, json + n, len - n);
		json += n;
		len -= n;
	}
}
