/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text for XML: markup is escaped, and what XML 1.0 cannot hold (control
 * characters, noncharacters, bytes that are not UTF-8) becomes a stand-in, as
 * on a terminal. Fits attributes in double quotes and element text alike.
 */
#ifndef LINT_XML_OUT_H
#define LINT_XML_OUT_H

#include "base/buf.h"

void xml_add(struct buf *out, const char *s);
void xml_add_n(struct buf *out, const char *s, size_t len);
/* ` name="value"` */
void xml_add_attribute(struct buf *out, const char *name, const char *value);

#endif
