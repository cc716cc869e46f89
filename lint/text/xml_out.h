/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes text for XML: markup is escaped, and characters that XML 1.0 cannot
 * contain (control characters, noncharacters, bytes that are not UTF-8) are
 * replaced, as on a terminal. The result can be used in attributes in double
 * quotes and for element text.
 */
#ifndef LINT_XML_OUT_H
#define LINT_XML_OUT_H

#include "base/buf.h"

void xml_add(struct buf *out, const char *s);
void xml_add_n(struct buf *out, const char *s, size_t len);
/* Adds ` name="value"`. */
void xml_add_attribute(struct buf *out, const char *name, const char *value);

#endif
