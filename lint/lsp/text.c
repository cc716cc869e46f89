/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts positions. The table of lines is rebuilt after each change, which
 * takes less time than parsing the text.
 */
#include "text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"

static void find_lines(struct lsp_text *text)
{
	const char *s = text->bytes.data;
	size_t len = text->bytes.len;

	text->nlines = 0;
	*ARRAY_PUSH(text->lines, text->nlines, text->lines_size) = 0;
	for (size_t i = 0; i < len; i++) {
		if (s[i] == '\r' && i + 1 < len && s[i + 1] == '\n')
			i++;
		if (s[i] == '\n' || s[i] == '\r')
			*ARRAY_PUSH(text->lines, text->nlines,
				    text->lines_size) = (uint32_t)(i + 1);
	}
}

void lsp_text_init(struct lsp_text *text, enum lsp_encoding encoding,
		   const char *data, size_t len)
{
	memset(text, 0, sizeof(*text));
	buf_init(&text->bytes);
	buf_add(&text->bytes, data, len);
	text->encoding = encoding;
	find_lines(text);
}

void lsp_text_release(struct lsp_text *text)
{
	buf_release(&text->bytes);
	free(text->lines);
}

/* --- positions ----------------------------------------------------------- */

/* Returns the number of bytes of the character at s, and sets *units to the
 * number of its code units. */
static size_t step(enum lsp_encoding encoding, const char *s, size_t n,
		   uint32_t *units)
{
	size_t bytes = utf8_length(s, n);

	if (!bytes)
		bytes = 1;
	*units = encoding == LSP_UTF8 ? (uint32_t)bytes : bytes == 4 ? 2 : 1;
	return bytes;
}

uint32_t lsp_units(enum lsp_encoding encoding, const char *s, size_t n)
{
	uint32_t sum = 0, units;

	for (size_t i = 0; i < n;) {
		i += step(encoding, s + i, n - i, &units);
		sum += units;
	}
	return sum;
}

/* Returns the end of the line without its line break. */
static uint32_t line_end(const struct lsp_text *text, size_t line)
{
	const char *s = text->bytes.data;
	uint32_t start = text->lines[line], end;

	if (line + 1 == text->nlines)
		return (uint32_t)text->bytes.len;
	end = text->lines[line + 1] - 1;
	if (end > start && s[end] == '\n' && s[end - 1] == '\r')
		end--;
	return end;
}

uint32_t lsp_offset(const struct lsp_text *text, struct lsp_position position)
{
	uint32_t at, end, units, left = position.character;

	if (position.line >= text->nlines)
		return (uint32_t)text->bytes.len;
	at = text->lines[position.line];
	end = line_end(text, position.line);
	while (at < end) {
		size_t bytes = step(text->encoding, text->bytes.data + at,
				    end - at, &units);

		if (units > left)
			break;
		left -= units;
		at += (uint32_t)bytes;
	}
	return at;
}

struct lsp_position lsp_position(const struct lsp_text *text, uint32_t offset)
{
	size_t low = 0, high = text->nlines;
	uint32_t end;

	while (low + 1 < high) {
		size_t middle = (low + high) / 2;

		if (text->lines[middle] <= offset)
			low = middle;
		else
			high = middle;
	}
	end = line_end(text, low);
	if (offset > end)
		offset = end;
	return (struct lsp_position){
		(uint32_t)low,
		lsp_units(text->encoding, text->bytes.data + text->lines[low],
			  offset - text->lines[low])};
}

/* --- changes ------------------------------------------------------------- */

void lsp_text_replace(struct lsp_text *text, uint32_t start, uint32_t end,
		      const char *data, size_t len)
{
	struct buf after;

	buf_init(&after);
	buf_grow(&after, text->bytes.len - (end - start) + len);
	buf_add(&after, text->bytes.data, start);
	buf_add(&after, data, len);
	buf_add(&after, text->bytes.data + end, text->bytes.len - end);
	buf_release(&text->bytes);
	text->bytes = after;
	find_lines(text);
}

/* True for a byte of UTF-8 that does not start a character. */
static bool is_inside(const char *s, size_t len, size_t at)
{
	return at < len && (s[at] & 0xc0) == 0x80;
}

struct lsp_same lsp_same_ends(const char *a, size_t na, const char *b,
			      size_t nb)
{
	size_t most = na < nb ? na : nb;
	struct lsp_same same = {0, 0};

	while (same.head < most && a[same.head] == b[same.head])
		same.head++;
	while (same.head &&
	       (is_inside(a, na, same.head) || is_inside(b, nb, same.head)))
		same.head--;
	while (same.tail < most - same.head &&
	       a[na - same.tail - 1] == b[nb - same.tail - 1])
		same.tail++;
	while (same.tail && is_inside(b, nb, nb - same.tail))
		same.tail--;
	return same;
}

uint32_t lsp_shift(const struct lsp_change *changes, size_t n, uint32_t offset)
{
	for (size_t i = 0; i < n; i++) {
		const struct lsp_change *c = &changes[i];

		if (offset >= c->end)
			offset = offset - c->end + c->start + c->len;
		else if (offset > c->start)
			offset = c->start;
	}
	return offset;
}
