/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text of a document, and conversions of positions. The protocol counts
 * lines from 0 (they end with LF, CR LF or CR), and within a line code units of
 * UTF-16, or bytes if client and server agree on UTF-8 (LSP 3.17, "Text
 * Documents").
 */
#ifndef LINT_LSP_TEXT_H
#define LINT_LSP_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

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

#endif
