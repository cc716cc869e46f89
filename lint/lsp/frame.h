/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages of the Language Server Protocol on a stream: a header with
 * Content-Length, an empty line, JSON (LSP 3.17, "Base Protocol").
 */
#ifndef LINT_LSP_FRAME_H
#define LINT_LSP_FRAME_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

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

#endif
