/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads and writes messages. Header fields are ASCII lines that end in CR LF;
 * all fields except the length are skipped. A line that is not a header field
 * is an error, because the start of the next message is then unknown.
 */
#include "frame.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"

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
