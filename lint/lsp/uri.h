/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file: URIs (RFC 8089) and paths.
 */
#ifndef LINT_LSP_URI_H
#define LINT_LSP_URI_H

#include <stdbool.h>

#include "base/buf.h"

/* Appends the absolute path to out; false if it is not a local file. */
bool lsp_uri_path(const char *uri, struct buf *out);
void lsp_path_uri(const char *path, struct buf *out);

#endif
