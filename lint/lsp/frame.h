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
	struct buf bytes; /* read and not yet taken, from used on */
	size_t used;
};

void lsp_input_init(struct lsp_input *input, int fd);
void lsp_input_release(struct lsp_input *input);
/* 1: the next message's body, which lives until the next call; 0: the input
 * ended; -1: no message begins here, and none can be found again. */
int lsp_read(struct lsp_input *input, const char **body, size_t *len);
/*
 * True if there is something to read, or will be within so many milliseconds.
 */
bool lsp_pending(const struct lsp_input *input, int milliseconds);
/* Takes the message. 0, or errno. One that JSON cannot hold (NULL) is left out:
 * it is not a reason to end. */
int lsp_write(int fd, json_t *message);

#endif
