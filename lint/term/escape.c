/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replaces unprintable text. Control characters become their control pictures
 * (U+2400 and on), which have one cell each, as the carets below excerpts
 * require. Other characters that cannot be shown become U+FFFD, masked secret
 * values become stars, and a tab becomes a space (the caller replaces tabs in
 * excerpts, where the column is known). Parts of URIs are percent-encoded.
 */
#include "escape.h"

#include <ctype.h>
#include <string.h>

#include "base/text.h"
#include "kube/secret/mask.h"

static void stand_in(struct escape *out, uint32_t c)
{
	out->stand_in[0] = (char)(0xe0 | c >> 12);
	out->stand_in[1] = (char)(0x80 | (c >> 6 & 0x3f));
	out->stand_in[2] = (char)(0x80 | (c & 0x3f));
	out->text = out->stand_in;
	out->len = 3;
	out->width = 1;
}

/* Shows a masked value as SECRET_STARS, whatever its length. */
static void show_stars(struct escape *out, const char *s, size_t n)
{
	out->used = 0;
	while (out->used < n && s[out->used] == SECRET_MASK_BYTE)
		out->used++;
	out->text = SECRET_STARS;
	out->len = out->width = sizeof(SECRET_STARS) - 1;
}

void escape_read(struct escape *out, const char *s, size_t n)
{
	size_t len = utf8_length(s, n);
	uint32_t c;

	if (*s == SECRET_MASK_BYTE) {
		show_stars(out, s, n);
		return;
	}
	out->used = len ? len : 1;
	if (!len) {
		stand_in(out, 0xfffd);
		return;
	}
	c = utf8_code_point(s, len);
	out->text = s;
	out->len = len;
	out->width = 1;
	if (c == '\t')
		out->text = " ";
	else if (c < 0x20)
		stand_in(out, 0x2400 + c);
	else if (c == 0x7f)
		stand_in(out, 0x2421);
	else if (text_is_hidden(c))
		stand_in(out, 0xfffd);
	else if (c >= 0x80)
		out->width = code_point_width(c);
}

static size_t plain_length(const char *s, size_t len)
{
	size_t i = 0;

	while (i < len && s[i] >= 0x20 && s[i] < 0x7f)
		i++;
	return i;
}

void escape_add(struct buf *out, const char *s, size_t len)
{
	struct escape escape;

	while (len) {
		size_t plain = plain_length(s, len);

		buf_add(out, s, plain);
		s += plain;
		len -= plain;
		if (!len)
			break;
		escape_read(&escape, s, len);
		buf_add(out, escape.text, escape.len);
		s += escape.used;
		len -= escape.used;
	}
}

void escape_adds(struct buf *out, const char *s)
{
	escape_add(out, s, strlen(s));
}

void escape_uri(struct buf *out, const char *s, const char *kept)
{
	for (; *s; s++)
		if (isalnum((unsigned char)*s) || strchr("-._~", *s) ||
		    strchr(kept, *s))
			buf_addc(out, *s);
		else
			buf_addf(out, "%%%02X", (unsigned char)*s);
}
