/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON Pointer (RFC 6901): "" is the whole document, "/a/0/b~1c" steps
 * through the map key "a", the first list item and the map key "b/c".
 */
#ifndef DOC_POINTER_H
#define DOC_POINTER_H

#include <stddef.h>

#include "base/buf.h"

/* Append "/" and the key, escaped. */
void pointer_add(struct buf *out, const char *key, size_t len);

#endif
