/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Line ends never come through: a stand-in takes their place, so nothing has
 * to be said about how parsers normalise them.
 */
#include "xml_out.h"

#include <string.h>

#include "glyph.h"

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

		glyph_add(out, s, plain);
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
