/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes text as XML. Line breaks are replaced, so that it does not matter how
 * parsers normalize them.
 */
#include "xml_out.h"

#include <limits.h>
#include <string.h>

#include "lint/term/escape.h"

static const char *entity(char c)
{
	static const char *const entities[UCHAR_MAX + 1] = {
		['&'] = "&amp;",  ['<'] = "&lt;",   ['>'] = "&gt;",
		['"'] = "&quot;", ['\''] = "&#39;",
	};

	return entities[(unsigned char)c];
}

void xml_add_n(struct buf *out, const char *s, size_t len)
{
	for (size_t i = 0; i < len;) {
		size_t plain = i;

		while (plain < len && !entity(s[plain]))
			plain++;
		escape_add(out, s + i, plain - i);
		if (plain < len)
			buf_adds(out, entity(s[plain++]));
		i = plain;
	}
}

void xml_add(struct buf *out, const char *s)
{
	xml_add_n(out, s, strlen(s));
}

void xml_add_attribute(struct buf *out, const char *name, const char *value)
{
	buf_addf(out, " %s=\"", name);
	xml_add(out, value);
	buf_addc(out, '"');
}
