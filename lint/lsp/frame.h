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
	struct buf bytes; /* bytes that were read; those from `used` on are
			     unprocessed */
	size_t used;
};

void lsp_input_init(struct lsp_input *input, int fd);
void lsp_input_release(struct lsp_input *input);
/* Returns 1 with the next message's body, which lives until the next call; 0 at
 * the end of the input; -1 if no message starts here, and none can be found
 * again. */
int lsp_read(struct lsp_input *input, const char **body, size_t *len);
/*
 * True if there is input, or will be within this many milliseconds.
 */
bool lsp_pending(const struct lsp_input *input, int milliseconds);
/* Writes the message and takes over the reference. Returns 0, or errno. A
 * message that could not be made (NULL) is left out, and the server goes on. */
int lsp_write(int fd, json_t *message);

#endif
