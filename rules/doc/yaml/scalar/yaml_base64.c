/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values tagged !!binary: base64 as Go's base64.StdEncoding decodes it (line
 * breaks anywhere, padding required, bits left over are ignored), then text as
 * encoding/json writes it (each byte that is not UTF-8 becomes U+FFFD).
 */
#include <string.h>

#include "base/text.h"
#include "yaml_scalar.h"

static int base64_value(int c)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz"
				     "0123456789+/";
	const char *p = c > 0 ? strchr(digits, c) : NULL;

	return p ? (int)(p - digits) : -1;
}

/* Next byte that is not a line break, or -1 at the end. */
static int next_char(const char **p, const char *end)
{
	while (*p < end && (**p == '\r' || **p == '\n'))
		++*p;
	return *p < end ? (unsigned char)*(*p)++ : -1;
}

/*
 * One group of four into at most three bytes at out. Returns their number,
 * 0 at the end of the text, -1 for anything else.
 */
static int base64_group(const char **p, const char *end, unsigned char *out)
{
	unsigned bits = 0;
	int n = 0;
	int c;

	for (; n < 4; n++) {
		int value;

		c = next_char(p, end);
		if (c < 0 && n == 0)
			return 0;
		if (c == '=')
			break;
		value = base64_value(c);
		if (value < 0)
			return -1;
		bits = bits << 6 | (unsigned)value;
	}
	if (n < 2)
		return -1;
	if (n == 2 && next_char(p, end) != '=')
		return -1;
	if (n < 4 && next_char(p, end) >= 0)
		return -1;
	bits <<= 6 * (4 - n);
	out[0] = (unsigned char)(bits >> 16);
	out[1] = (unsigned char)(bits >> 8);
	out[2] = (unsigned char)bits;
	return n - 1;
}

static char *replace_invalid(struct arena *arena, const char *text, size_t *len)
{
	char *out = arena_alloc(arena, 3 * *len + 1);
	char *to = out;
	size_t i = 0;

	while (i < *len) {
		size_t n = utf8_length(text + i, *len - i);

		memcpy(to, n ? text + i : "\xef\xbf\xbd", n ? n : 3);
		to += n ? n : 3;
		i += n ? n : 1;
	}
	*to = '\0';
	*len = (size_t)(to - out);
	return out;
}

char *scalar_base64(struct arena *arena, const char *text, size_t *len)
{
	unsigned char *bytes = arena_alloc(arena, *len / 4 * 3 + 3);
	const char *p = text;
	size_t n = 0;
	int got;

	while ((got = base64_group(&p, text + *len, bytes + n)) > 0)
		n += (size_t)got;
	if (got < 0)
		return NULL;
	*len = n;
	return replace_invalid(arena, (const char *)bytes, len);
}
