/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Line ends are replaced by a stand-in, so it does not matter how parsers
 * normalise them.
 */
#include "xml_out.h"

#include <string.h>

#include "lint/term/escape.h"

static const char *entity(char c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return NULL;
	}
}

void xml_add(struct buf *out, const char *s)
{
	while (*s) {
		size_t plain = strcspn(s, "&<>\"'");

		escape_add(out, s, plain);
		s += plain;
		if (*s)
			buf_adds(out, entity(*s++));
	}
}

void xml_add_attribute(struct buf *out, const char *name, const char *value)
{
	buf_addf(out, " %s=\"", name);
	xml_add(out, value);
	buf_addc(out, '"');
}
