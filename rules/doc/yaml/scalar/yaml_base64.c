/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes values tagged !!binary: base64 as Go's base64.StdEncoding reads it
 * (line breaks anywhere, padding required, unused bits ignored), then as text
 * in the form that encoding/json writes (each byte that is not UTF-8 becomes
 * U+FFFD).
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
	char *bytes = arena_alloc(arena, *len / 4 * 3 + 3);
	size_t n = 0, digits = 0, padding = 0;
	unsigned bits = 0;

	for (size_t i = 0; i < *len; i++) {
		int value = base64_value((unsigned char)text[i]);

		if (text[i] == '\r' || text[i] == '\n')
			continue;
		if (text[i] == '=') {
			padding++;
			continue;
		}
		if (value < 0 || padding)
			return NULL;
		bits = bits << 6 | (unsigned)value;
		if (digits % 4)
			bytes[n++] = (char)(bits >> (6 - digits % 4 * 2));
		digits++;
	}
	if (padding > 2 || (digits + padding) % 4)
		return NULL;
	*len = n;
	return replace_invalid(arena, bytes, len);
}
