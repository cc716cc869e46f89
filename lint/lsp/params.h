/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parameters of requests and notifications.
 */
#ifndef LINT_LSP_PARAMS_H
#define LINT_LSP_PARAMS_H

#include "session.h"

/* "a.b.c"; NULL where one of them is missing. Borrowed. */
json_t *lsp_member(const json_t *json, const char *dotted);
/* The open document that textDocument names, or NULL. */
struct lsp_document *lsp_document_of(const struct lsp_session *session,
				     const json_t *params);
/* A Position as a byte of the text; false: it is none. */
bool lsp_read_offset(const struct lsp_document *document, const json_t *json,
		     uint32_t *offset);

#endif
