/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implements the Language Server Protocol's messages, texts with positions,
 * and URIs.
 */
#include "protocol.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "lint/term/escape.h"

/*
 * Reads and writes messages. Header fields are ASCII lines that end in CR LF;
 * all fields except the length are skipped. A line that is not a header field
 * is an error, because the start of the next message is then unknown.
 */

enum { PIECE = 64 << 10 };

void lsp_input_init(struct lsp_input *input, int fd)
{
	input->fd = fd;
	input->used = 0;
	buf_init(&input->bytes);
}

void lsp_input_release(struct lsp_input *input)
{
	buf_release(&input->bytes);
}

bool lsp_pending(const struct lsp_input *input, int milliseconds)
{
	struct pollfd poll_fd = {.fd = input->fd, .events = POLLIN};

	if (input->used < input->bytes.len)
		return true;
	return poll(&poll_fd, 1, milliseconds) > 0;
}

static bool read_more(struct lsp_input *input)
{
	struct buf *b = &input->bytes;
	ssize_t n;

	buf_grow(b, PIECE);
	do
		n = read(input->fd, b->data + b->len, PIECE);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return false;
	b->len += (size_t)n;
	return true;
}

/* Reads a number of digits only, up to the largest length that is allowed. */
static bool read_length(const char *at, const char *end, size_t *length)
{
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	if (at == end)
		return false;
	for (*length = 0; at < end && *at >= '0' && *at <= '9'; at++) {
		*length = *length * 10 + (size_t)(*at - '0');
		if (*length > LSP_BODY_MAX)
			return false;
	}
	return at == end;
}

/* Reads the header lines up to the empty one. */
static bool read_header(const char *at, const char *end, size_t *length)
{
	static const char name[] = "Content-Length:";
	bool found = false;

	while (at < end) {
		const char *stop = text_find(at, (size_t)(end - at), "\r\n");

		if (!stop)
			stop = end;
		if ((size_t)(stop - at) >= strlen(name) &&
		    !strncasecmp(at, name, strlen(name))) {
			if (found ||
			    !read_length(at + strlen(name), stop, length))
				return false;
			found = true;
		} else if (!memchr(at, ':', (size_t)(stop - at))) {
			return false;
		}
		at = stop + 2;
	}
	return found;
}

/* Finds the next message. Returns 1 and sets the lengths of header and body; 0
 * at the end of the input, or -1 for an invalid header. */
static int find_header(struct lsp_input *input, size_t *header, size_t *length)
{
	const char *start, *end;

	for (;;) {
		start = input->bytes.data;
		end = text_find(start, input->bytes.len, "\r\n\r\n");
		if (end)
			break;
		if (input->bytes.len > LSP_HEADER_MAX)
			return -1;
		if (!read_more(input))
			return input->bytes.len ? -1 : 0;
	}
	*header = (size_t)(end - start) + 4;
	if (*header > LSP_HEADER_MAX || !read_header(start, end, length))
		return -1;
	return 1;
}

int lsp_read(struct lsp_input *input, const char **body, size_t *len)
{
	struct buf *b = &input->bytes;
	size_t header;
	int rc;

	memmove(b->data, b->data + input->used, b->len - input->used);
	b->len -= input->used;
	input->used = 0;
	rc = find_header(input, &header, len);
	if (rc <= 0)
		return rc;
	while (b->len < header + *len)
		if (!read_more(input))
			return -1;
	*body = b->data + header;
	input->used = header + *len;
	return 1;
}

int lsp_write(int fd, json_t *message)
{
	char *text = json_dumps(message, JSON_COMPACT);
	struct buf out;
	int error;

	json_decref(message);
	if (!text)
		return 0;
	buf_init(&out);
	buf_addf(&out, "Content-Length: %zu\r\n\r\n%s", strlen(text), text);
	error = file_write_fd(fd, out.data, out.len);
	buf_release(&out);
	free(text);
	return error;
}

/*
 * Converts positions. The table of lines is rebuilt after each change, which
 * takes less time than parsing the text.
 */

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

/*
 * Converts file: URIs of the editor into paths, and paths into URIs.
 */

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Returns the path of a URI; NULL if it has an authority, which means that the
 * file is not local. */
static const char *path_part(const char *uri)
{
	static const char host[] = "//localhost/";

	if (!text_starts(uri, "file:/"))
		return NULL;
	uri += strlen("file:");
	if (text_starts(uri, host))
		return uri + strlen(host) - 1;
	if (text_starts(uri, "///"))
		return uri + 2;
	return text_starts(uri, "//") ? NULL : uri;
}

bool lsp_uri_path(const char *uri, struct buf *out)
{
	const char *at = path_part(uri);
	struct buf path;

	if (!at)
		return false;
	buf_init(&path);
	for (; *at && *at != '?' && *at != '#'; at++) {
		int high = *at == '%' ? hex(at[1]) : -1;
		int low = high >= 0 ? hex(at[2]) : -1;

		if (low >= 0) {
			buf_addc(&path, (char)(high * 16 + low));
			at += 2;
		} else {
			buf_addc(&path, *at);
		}
	}
	if (strlen(path.data) == path.len)
		path_absolute("/", path.data, out);
	buf_release(&path);
	return out->len > 1;
}

void lsp_path_uri(const char *path, struct buf *out)
{
	buf_adds(out, "file://");
	escape_uri(out, path, "/");
}
