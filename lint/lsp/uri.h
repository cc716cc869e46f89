/* SPDX-License-Identifier: Apache-2.0 */
/* Converts file: URIs (RFC 8089). */
#ifndef LINT_LSP_URI_H
#define LINT_LSP_URI_H

#include <stdbool.h>

#include "base/buf.h"

/* Appends the absolute path to out. Returns false if the URI is not that of a
 * local file. */
bool lsp_uri_path(const char *uri, struct buf *out);
void lsp_path_uri(const char *path, struct buf *out);

#endif
