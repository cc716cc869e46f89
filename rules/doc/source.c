/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts offsets to lines and columns, and offsets in a scalar's text to
 * offsets in the file. Most files have no findings, so the line table is built
 * for the first position requested. UTF-16 is recognized only by its byte
 * order mark, as in kubectl; invalid sequences become U+FFFD.
 */
#include "doc/source.h"

#include <string.h>

#include "base/text.h"
#include "doc/node.h"

static uint32_t unit_at(const unsigned char *u, bool big_endian)
{
	return big_endian ? (uint32_t)u[0] << 8 | u[1]
			  : (uint32_t)u[1] << 8 | u[0];
}

/* Reads one code point. Sets *used to 2 or 4 bytes, or to 1 for a single byte
 * at the end. */
static uint32_t decode_utf16(const unsigned char *u, size_t n, bool big_endian,
			     size_t *used)
{
	uint32_t high, low;

	*used = n < 2 ? n : 2;
	if (n < 2)
		return 0xfffd;
	high = unit_at(u, big_endian);
	if (high < 0xd800 || high > 0xdfff)
		return high;
	if (n < 4)
		return 0xfffd;
	low = unit_at(u + 2, big_endian);
	if (low < 0xdc00 || low > 0xdfff)
		return 0xfffd;
	/* Two low surrogates become one U+FFFD, as in golang.org/x/text. */
	*used = 4;
	if (high > 0xdbff)
		return 0xfffd;
	return 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
}

static void transcode(struct source *source, const char *text, size_t len)
{
	const unsigned char *u = (const unsigned char *)text;
	bool big_endian = u[0] == 0xfe;
	/* Two bytes of UTF-16 become at most three of UTF-8, and so does a
	 * single byte at the end. */
	char *decoded = arena_alloc(source->arena, len / 2 * 3 + 3);
	char *out = decoded;
	size_t used;

	for (size_t i = 2; i < len; i += used)
		out = utf8_put(out,
			       decode_utf16(u + i, len - i, big_endian, &used));
	source->text = decoded;
	source->len = (size_t)(out - decoded);
	source->transcoded = true;
}

void source_init(struct source *source, struct arena *arena, const char *name,
		 const char *text, size_t len)
{
	*source = (struct source){
		.name = name, .text = text, .len = len, .arena = arena};
	if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
		source->text += 3;
		source->len -= 3;
		source->bom = 3;
	} else if (len >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 ||
				memcmp(text, "\xfe\xff", 2) == 0)) {
		transcode(source, text, len);
	}
}

static const char *after_line(const char *s, const char *end)
{
	const char *lf = s < end ? memchr(s, '\n', (size_t)(end - s)) : NULL;

	return lf ? lf + 1 : NULL;
}

static void build_lines(struct source *source)
{
	const char *text = source->text, *end = text + source->len;
	const char *s;
	uint32_t n = 1;

	for (s = after_line(text, end); s; s = after_line(s, end))
		n++;
	source->lines = arena_alloc(source->arena, n * sizeof(uint32_t));
	source->lines[0] = 0;
	n = 1;
	for (s = after_line(text, end); s; s = after_line(s, end))
		source->lines[n++] = (uint32_t)(s - text);
	source->nlines = n;
}

/* Returns the index of the line that contains the offset. */
static uint32_t find_line(const struct source *source, uint32_t offset)
{
	uint32_t low = 0, high = source->nlines;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (source->lines[middle] <= offset)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Returns the column of an offset. Counts code points from the start of the
 * line, or from the last position if that is nearer; otherwise thousands of
 * findings in a JSON file of one line would take quadratic time. */
static uint32_t column_at(struct source *source, uint32_t line, uint32_t offset)
{
	uint32_t from = source->lines[line], column = 1;

	if (source->last_line == line + 1 &&
	    offset >= from + (source->last_offset - from) / 2) {
		from = source->last_offset;
		column = source->last_column;
	}
	if (offset >= from)
		column += (uint32_t)utf8_count(source->text + from,
					       offset - from);
	else
		column -= (uint32_t)utf8_count(source->text + offset,
					       from - offset);
	source->last_line = line + 1;
	source->last_offset = offset;
	source->last_column = column;
	return column;
}

struct position source_position(struct source *source, uint32_t offset)
{
	struct position position;
	uint32_t line;

	if (offset > source->len)
		offset = (uint32_t)source->len;
	if (source->bytes_only)
		return (struct position){1, offset + 1};
	if (!source->lines)
		build_lines(source);
	line = find_line(source, offset);
	position.line = line + 1;
	position.column = column_at(source, line, offset);
	return position;
}

const char *source_line(struct source *source, uint32_t n, size_t *len)
{
	size_t start, end;

	if (!source->lines)
		build_lines(source);
	*len = 0;
	if (n == 0 || n > source->nlines)
		return "";
	start = source->lines[n - 1];
	end = n < source->nlines ? source->lines[n] : source->len;
	if (end > start && source->text[end - 1] == '\n')
		end--;
	if (end > start && source->text[end - 1] == '\r')
		end--;
	*len = end - start;
	return source->text + start;
}

/*
 * Finds the byte of the file from which a byte of a scalar's text comes. The
 * two offsets differ because of line folding and escapes.
 */

/* Returns the start of the text in the file, and sets *indent to its
 * indentation. */
static uint32_t text_start(const struct source *source, const struct node *node,
			   size_t *indent)
{
	uint32_t at = node->start;

	*indent = 0;
	if (!(node->flags & NODE_BLOCK))
		return at + !!(node->flags & NODE_QUOTED);
	while (at < node->end && source->text[at] != '\n')
		at++;
	at++;
	while (at + *indent < node->end && source->text[at + *indent] == ' ')
		++*indent;
	return at;
}

/* Returns the length of the escape at this position in quoted text of this
 * style, or 0. An escaped line end counts as white space. */
static uint32_t escape_length(char quote, const char *at)
{
	if (quote == '\'')
		return at[0] == '\'' && at[1] == '\'' ? 2 : 0;
	if (quote != '"' || at[0] != '\\' || at[1] == '\n' || at[1] == '\r')
		return 0;
	return at[1] == 'x' ? 4 : at[1] == 'u' ? 6 : at[1] == 'U' ? 10 : 2;
}

uint32_t source_text_offset(const struct source *source,
			    const struct node *node, size_t offset)
{
	const char *text = source->text;
	char quote = node->flags & NODE_QUOTED ? text[node->start] : '\0';
	bool block = node->flags & NODE_BLOCK, begins = true;
	size_t indent;
	uint32_t at = text_start(source, node, &indent);

	for (size_t i = 0; at + 1 < node->end; i++) {
		uint32_t escape = escape_length(quote, text + at);

		for (size_t k = 0; begins && k < indent && text[at] == ' '; k++)
			at++;
		while (!escape && i < node->len && at + 1 < node->end &&
		       text[at] != node->str[i] && node->str[i] != ' ')
			at++;
		if (i >= offset)
			break;
		begins = text[at] == '\n';
		at += escape ? escape : 1;
		if (escape)
			i += utf8_length(node->str + i, node->len - i) - 1;
		while (begins && !block && at + 1 < node->end &&
		       strchr(" \t\n", text[at]))
			at++;
	}
	return at < node->end ? at : node->end;
}
