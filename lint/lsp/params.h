/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that read the parameters of requests and notifications. */
#ifndef LINT_LSP_PARAMS_H
#define LINT_LSP_PARAMS_H

#include "session.h"

/* Returns the member at a path "a.b.c", or NULL. The reference is borrowed. */
json_t *lsp_member(const json_t *json, const char *dotted);
/* Returns the open document that textDocument.uri names, or NULL. */
struct lsp_document *lsp_document_of(const struct lsp_session *session,
				     const json_t *params);
/* Converts a Position to a byte offset in the text. Returns false if it is
 * malformed. */
bool lsp_read_offset(const struct lsp_document *document, const json_t *json,
		     uint32_t *offset);

#endif
