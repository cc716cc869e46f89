/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the byte of the file from which a byte of a scalar's text comes. The
 * two offsets differ because of line folding and escapes.
 */
#include <string.h>

#include "base/text.h"
#include "doc/node.h"
#include "doc/source.h"

/* Returns the start of the text in the file, and sets *indent to its
 * indentation. */
static uint32_t text_start(const struct source *source, const struct node *node,
			   size_t *indent)
{
	uint32_t at = node->start;

	*indent = 0;
	if (!(node->flags & NODE_BLOCK))
		return at + !!(node->flags & NODE_QUOTED);
	while (at < node->end && source->text[at] != '\n')
		at++;
	at++;
	while (at + *indent < node->end && source->text[at + *indent] == ' ')
		++*indent;
	return at;
}

/* Returns the length of the escape at this position in quoted text of this
 * style, or 0. An escaped line end counts as white space. */
static uint32_t escape_length(char quote, const char *at)
{
	if (quote == '\'')
		return at[0] == '\'' && at[1] == '\'' ? 2 : 0;
	if (quote != '"' || at[0] != '\\' || at[1] == '\n' || at[1] == '\r')
		return 0;
	return at[1] == 'x' ? 4 : at[1] == 'u' ? 6 : at[1] == 'U' ? 10 : 2;
}

uint32_t source_text_offset(const struct source *source,
			    const struct node *node, size_t offset)
{
	const char *text = source->text;
	char quote = node->flags & NODE_QUOTED ? text[node->start] : '\0';
	bool block = node->flags & NODE_BLOCK, begins = true;
	size_t indent;
	uint32_t at = text_start(source, node, &indent);

	for (size_t i = 0; at + 1 < node->end; i++) {
		uint32_t escape = escape_length(quote, text + at);

		for (size_t k = 0; begins && k < indent && text[at] == ' '; k++)
			at++;
		while (!escape && i < node->len && at + 1 < node->end &&
		       text[at] != node->str[i] && node->str[i] != ' ')
			at++;
		if (i >= offset)
			break;
		begins = text[at] == '\n';
		at += escape ? escape : 1;
		if (escape)
			i += utf8_length(node->str + i, node->len - i) - 1;
		while (begins && !block && at + 1 < node->end &&
		       strchr(" \t\n", text[at]))
			at++;
	}
	return at < node->end ? at : node->end;
}
