/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON strings, numbers and words, and values that are skipped. A scan checks
 * every escape and UTF-8 sequence; the string is then decoded in place, which
 * cannot fail and never makes it longer. Numbers keep the author's digits.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "json.h"

enum {
	PIECE = 1024, /* bytes that are copied at once */
	BEHIND = 64,  /* NULs after the text, at least JSON_STEP */
	/* Integers of up to this many digits always fit into a double. */
	DIGITS_SAFE = 300,
};

/* Copies the text once for all values in it. It is copied in pieces because
 * callgrind counts each byte of a long memcpy(), which is one string
 * instruction. */
char *json_reader_text(struct loader *loader, uint32_t end)
{
	const char *text = loader->source->text;
	uint32_t n;

	if (loader->own && loader->own_end == end)
		return loader->own;
	loader->own =
		arena_take(loader->source->arena, (size_t)end + BEHIND, 1);
	loader->own_end = end;
	for (uint32_t at = 0; at < end; at += n) {
		n = (end - at - 1) % PIECE + 1;
		memcpy(loader->own + at, text + at, n);
	}
	memset(loader->own + end, 0, BEHIND);
	return loader->own;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int hex_digit(char c)
{
	if (is_digit(c))
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Returns the value of four hexadecimal digits, or -1. */
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

/* Checks the escape whose backslash is at p. Returns the byte after it, or the
 * end of the text if the escape is cut off; NULL if it is rejected. */
static char *scan_escape(struct json_reader *json, char *p)
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
	json_refuse(json, p, json_behind(json, p + 1),
		    "unknown escape in a string");
	return NULL;
}

/* Checks the byte at p, which was marked and is not a quote. Returns the byte
 * after the escape or character; NULL if it is rejected. */
static char *scan_special(struct json_reader *json, char *p)
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
			       "control character in a string: use an escape");
		return NULL;
	}
	len = utf8_length(p, (size_t)(json->end - p));
	if (!len) {
		json->loader->not_utf8 = true;
		json_refuse_at(json, p, "invalid UTF-8 in a string");
		return NULL;
	}
	return p + len;
}

/*
 * Decodes \uXXXX at p, which was checked before, together with the second half
 * of a surrogate pair. A single half becomes U+FFFD, as in Go.
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
	*out = utf8_put(*out, (uint32_t)c);
	return p;
}

/* Copies the bytes from p to end, whose escapes were checked before, to out. */
static char *decode_string(const char *p, const char *end, char *out)
{
	static const char letters[] = "\"\\/bfnrt";
	static const char values[] = "\"\\/\b\f\n\r\t";

	while (p < end) {
		const char *stop = memchr(p, '\\', (size_t)(end - p));
		size_t len = (size_t)((stop ? stop : end) - p);

		memmove(out, p, len); /* out is p, or before it */
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
	return out;
}

bool scan_json_string(struct json_reader *json, char *p, uint32_t *len)
{
	char *start = json->at + 1;
	bool escapes = false;

	while (p < json->end && *p != '"') {
		escapes |= *p == '\\';
		p = scan_special(json, p);
		if (!p)
			return false;
		p = json_mark(p);
	}
	if (p >= json->end)
		return json_refuse(json, json->at, json->end,
				   "string is not closed before the text ends");
	json->at = p + 1;
	if (escapes)
		p = decode_string(start, p, start);
	*p = '\0';
	*len = (uint32_t)(p - start);
	return true;
}

/* Returns the first byte at or after p that is not a digit. */
static char *skip_digits(char *p)
{
	while (is_digit(*p))
		p++;
	return p;
}

static bool is_any(const char *p, char a, char b)
{
	return *p == a || *p == b;
}

static char *refuse_digits(struct json_reader *json, const char *p)
{
	json_refuse(json, json->at, p, "expected a digit in a number");
	return NULL;
}

/* Returns the end of the number at json->at, NULL if it is rejected. Sets
 * *whole if it is an integer. */
static char *scan_number(struct json_reader *json, bool *whole)
{
	char *p = json->at + (*json->at == '-');
	char *digits = p;

	p = skip_digits(digits);
	if (p == digits)
		return refuse_digits(json, p);
	/* At the top level, another value may follow without a separator. */
	if (*digits == '0' && !json->open)
		p = digits + 1;
	if (*digits == '0' && p > digits + 1) {
		json_refuse(json, json->at, p, "number with a leading zero");
		return NULL;
	}
	*whole = true;
	if (*p == '.') {
		*whole = false;
		digits = p + 1;
		p = skip_digits(digits);
	}
	if (p > digits && is_any(p, 'e', 'E')) {
		*whole = false;
		digits = p + 1 + is_any(p + 1, '+', '-');
		p = skip_digits(digits);
	}
	if (p == digits)
		return refuse_digits(json, p);
	return p;
}

/* Returns the byte after an integer without a sign; NULL if the number has
 * another form. */
static char *scan_integer(const struct json_reader *json)
{
	char *p = json->at;

	if (*p == '0' || !is_digit(*p))
		return NULL;
	p = skip_digits(p);
	return *p == '.' || *p == 'e' || *p == 'E' ? NULL : p;
}

/*
 * Reads a number. Its digits are kept, but a number beyond the range of a
 * double is rejected, as in Go. Only long numbers and those with an exponent
 * can be that large, so short integers, which are nearly all numbers, are not
 * converted.
 */
static bool json_number(struct json_reader *json, struct node *node)
{
	bool whole = true;
	const char *start = json->at;
	char *p = scan_integer(json);

	if (!p)
		p = scan_number(json, &whole);
	if (!p)
		return false;
	node->type = whole ? NODE_INT : NODE_FLOAT;
	node->len = (uint32_t)(p - start);
	json->lengths |= node->len;
	node->str = arena_strndup(json->loader->arena, start, node->len);
	if ((!whole || node->len > DIGITS_SAFE) &&
	    isinf(strtod(node->str, NULL))) {
		json->loader->too_large = true;
		return json_refuse(json, start, p, "number is too large");
	}
	json->at = p;
	return true;
}

static bool is_letter(char c)
{
	c |= 0x20;
	return c >= 'a' && c <= 'z';
}

/* True if the word is at p and is not followed by a letter. At the top level,
 * another value may follow without a separator. */
static inline bool json_spells(const struct json_reader *json, const char *p,
			       const char *word)
{
	size_t len = strlen(word);

	return memcmp(p, word, len) == 0 && (!json->open || !is_letter(p[len]));
}

static bool refuse_word(struct json_reader *json)
{
	const char *p = json->at;

	while (is_letter(*p))
		p++;
	if (p == json->at)
		return json_refuse_at(json, p, "expected a value");
	return json_refuse(json, json->at, p,
			   "unknown word: strings need double quotes");
}

static bool json_word(struct json_reader *json, struct node *node)
{
	char *p = json->at;

	node->type = NODE_BOOL;
	if (json_spells(json, p, "true")) {
		node->str = "true";
	} else if (json_spells(json, p, "false")) {
		node->str = "false";
	} else if (json_spells(json, p, "null")) {
		node->type = NODE_NULL;
		node->str = "null";
	} else {
		return refuse_word(json);
	}
	node->len = (uint32_t)strlen(node->str);
	json->at = p + node->len;
	return true;
}

bool scan_json_other(struct json_reader *json, struct node *node)
{
	node->flags = 0;
	if (*json->at == '-' || is_digit(*json->at) ? !json_number(json, node)
						    : !json_word(json, node))
		return false;
	node->end = (uint32_t)(json->at - json->text);
	return true;
}

/* Returns the position after the string whose opening quote is at p, or the
 * text's end. */
static inline char *json_skip_string(const struct json_reader *json, char *p)
{
	for (;;) {
		p = json_mark(p + 1);
		if (*p == '"')
			return p + 1;
		if (p >= json->end)
			return json->end;
		if (*p == '\\' && p + 1 < json->end)
			p++;
	}
}

/* Skips a value. Empty values get their own case because managedFields consist
 * of keys with empty values. */
char *json_skip(const struct json_reader *json, char *p)
{
	static const char leaf[] = ":{},";
	static const signed char steps[256] = {
		['{'] = 1, ['['] = 1, ['}'] = -1, [']'] = -1};
	int64_t depth = 0;

	while (p < json->end) {
		if (*p == '"') {
			p = json_skip_string(json, p);
			if (depth && !memcmp(p, leaf, sizeof(leaf) - 1))
				p += sizeof(leaf) - 1;
			continue;
		}
		depth += steps[(unsigned char)*p];
		if (depth < 0 || (*p == ',' && !depth))
			break;
		p++;
	}
	return p;
}
