/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commas need no state: a member follows another one unless the byte before
 * it opened the map or list. Most text needs no escape, so that eight bytes
 * at a time are looked at and runs are copied whole.
 */
#include "json_stream.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "glyph.h"

#define EACH_BYTE(b) (UINT64_MAX / 255 * (b))

static void add_escape(struct buf *out, uint32_t c)
{
	if (c >= 0x10000) {
		c -= 0x10000;
		buf_addf(out, "\\u%04X", 0xd800 + (c >> 10));
		c = 0xdc00 + (c & 0x3ff);
	}
	buf_addf(out, "\\u%04X", c);
}

/* The high bit of a byte is set when it is below n (1..128); bytes from 0x80
 * on, and those above such a one, may be set as well. */
static uint64_t bytes_below(uint64_t word, unsigned n)
{
	return (word - EACH_BYTE(n)) & EACH_BYTE(0x80);
}

/* Exact while no byte is 0x7f or above: those are to be looked at anyway. */
static bool is_plain_word(uint64_t word)
{
	return !((word | (word + EACH_BYTE(1)) | bytes_below(word, 0x20) |
		  bytes_below(word ^ EACH_BYTE('"'), 1) |
		  bytes_below(word ^ EACH_BYTE('\\'), 1)) &
		 EACH_BYTE(0x80));
}

static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

/* Bytes that a string may hold as they are. */
static size_t plain_length(const char *s, size_t len)
{
	uint64_t word;
	size_t i = 0;

	for (; i + sizeof(word) <= len; i += sizeof(word)) {
		memcpy(&word, s + i, sizeof(word));
		if (!is_plain_word(word))
			break;
	}
	while (i < len && is_plain((unsigned char)s[i]))
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

/* The character at s, from 0x80 on or a delete; returns its bytes. */
static size_t add_character(struct buf *out, const char *s, size_t len)
{
	struct glyph glyph;

	glyph_read(&glyph, s, len);
	if (glyph.text != glyph.stand_in)
		buf_add(out, s, glyph.used);
	else if (utf8_length(s, len))
		add_escape(out, glyph_code_point(s, glyph.used));
	else
		buf_adds(out, "\xef\xbf\xbd");
	return glyph.used;
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
		step = plain_length(s, len);
		buf_add(out, s, step);
		s += step;
		len -= step;
	}
}

static void add_string(struct buf *out, const char *s)
{
	size_t len = strlen(s), plain = plain_length(s, len);
	char *at;

	buf_grow(out, plain + 2);
	at = out->data + out->len;
	*at++ = '"';
	memcpy(at, s, plain);
	out->len += plain + 1;
	if (plain < len)
		add_special(out, s + plain, len - plain);
	buf_addc(out, '"');
}

static void add_key(struct buf *out, const char *key)
{
	char last = out->len ? out->data[out->len - 1] : '{';
	size_t len = key ? strlen(key) : 0;
	char *at;

	buf_grow(out, len + 4);
	at = out->data + out->len;
	/* Lines and what the caller wrote in front stand by themselves. */
	if (last != '{' && last != '[' && last != '\n' && last != ':')
		*at++ = ',';
	if (key) {
		*at++ = '"';
		memcpy(at, key, len);
		at += len;
		*at++ = '"';
		*at++ = ':';
	}
	*at = '\0';
	out->len = (size_t)(at - out->data);
}

void stream_open(struct buf *out, const char *key, char bracket)
{
	add_key(out, key);
	buf_addc(out, bracket);
}

void stream_close(struct buf *out, char bracket)
{
	buf_addc(out, bracket);
}

void stream_text(struct buf *out, const char *key, const char *s)
{
	add_key(out, key);
	add_string(out, s);
}

void stream_int(struct buf *out, const char *key, int64_t value)
{
	uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
	char digits[24];
	size_t i = sizeof(digits);

	add_key(out, key);
	do {
		digits[--i] = (char)('0' + left % 10);
		left /= 10;
	} while (left);
	if (value < 0)
		digits[--i] = '-';
	buf_add(out, digits + i, sizeof(digits) - i);
}

void stream_bool(struct buf *out, const char *key, bool value)
{
	add_key(out, key);
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
	add_key(out, key);
	stream_visible(out, json, strlen(json));
}

void stream_visible(struct buf *out, const char *json, size_t len)
{
	size_t done = 0, i = 0;

	while (i < len) {
		if ((unsigned char)json[i] < 0x7f) {
			i++;
			continue;
		}
		buf_add(out, json + done, i - done);
		i += add_character(out, json + i, len - i);
		done = i;
	}
	buf_add(out, json + done, len - done);
}
