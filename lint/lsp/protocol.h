/* SPDX-License-Identifier: Apache-2.0 */
/* The Language Server Protocol: messages, texts with positions, and URIs. */
#ifndef LINT_PROTOCOL_H
#define LINT_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "base/buf.h"

/*
 * Messages of the Language Server Protocol on a stream: a header with
 * Content-Length, an empty line, JSON (LSP 3.17, "Base Protocol").
 */

enum { LSP_HEADER_MAX = 8 << 10, LSP_BODY_MAX = 128 << 20 };

struct lsp_input {
	int fd;
	/* bytes that were read; those before `used` are processed */
	struct buf bytes;
	size_t used;
};

void lsp_input_init(struct lsp_input *input, int fd);
void lsp_input_release(struct lsp_input *input);
/* Reads the next message. Returns 1 with its body, which lives until the next
 * call, or 0 at the end of the input. Returns -1 if the input is not a message,
 * so that later messages cannot be found either. */
int lsp_read(struct lsp_input *input, const char **body, size_t *len);
/* True if there is input, or if some arrives within this many milliseconds. */
bool lsp_pending(const struct lsp_input *input, int milliseconds);
/* Writes the message and takes over the reference. Returns 0 or an errno value.
 * message is NULL if memory ran out; nothing is written then. */
int lsp_write(int fd, json_t *message);

/*
 * The text of a document, and conversions of positions. The protocol counts
 * lines from 0 (they end with LF, CR LF or CR), and within a line code units of
 * UTF-16, or bytes if client and server agree on UTF-8 (LSP 3.17, "Text
 * Documents").
 */

enum lsp_encoding { LSP_UTF16, LSP_UTF8 };

struct lsp_position {
	uint32_t line, character;
};

struct lsp_text {
	struct buf bytes; /* valid UTF-8 */
	enum lsp_encoding encoding;
	uint32_t *lines; /* offset of each line */
	size_t nlines, lines_size;
};

void lsp_text_init(struct lsp_text *text, enum lsp_encoding encoding,
		   const char *data, size_t len);
void lsp_text_release(struct lsp_text *text);
/* Convert positions. A position beyond the end of a line or of the text becomes
 * that end; one inside of a character becomes its start. */
uint32_t lsp_offset(const struct lsp_text *text, struct lsp_position position);
struct lsp_position lsp_position(const struct lsp_text *text, uint32_t offset);
/* Returns the number of code units in n bytes. */
uint32_t lsp_units(enum lsp_encoding encoding, const char *s, size_t n);
/* Replaces the bytes [start, end). Requires start <= end <= length of the
 * text. */
void lsp_text_replace(struct lsp_text *text, uint32_t start, uint32_t end,
		      const char *data, size_t len);

/* Number of bytes that two texts have in common at the start and at the end, in
 * whole characters. */
struct lsp_same {
	size_t head, tail;
};
struct lsp_same lsp_same_ends(const char *a, size_t na, const char *b,
			      size_t nb);

/* A replacement of bytes; offsets refer to the text before it. */
struct lsp_change {
	uint32_t start, end, len;
};
/* Returns the position of the offset after n successive changes. A position
 * inside of replaced text becomes the start of the replacement. */
uint32_t lsp_shift(const struct lsp_change *changes, size_t n, uint32_t offset);

/* Converts file: URIs (RFC 8089). */

/* Appends the absolute path to out. Returns false if the URI is not that of a
 * local file. */
bool lsp_uri_path(const char *uri, struct buf *out);
void lsp_path_uri(const char *path, struct buf *out);

#endif
