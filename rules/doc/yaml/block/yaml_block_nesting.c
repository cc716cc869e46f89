/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses block scalars in the fast YAML parser: literal (|) and folded (>) ones
 * whose first line sets the indentation. Scalars that consist only of blank
 * lines are left to libyaml.
 */
#include <string.h>

#include "yaml_block.h"

struct nesting {
	struct fast *fast;
	const char *p; /* next line */
	uint32_t indent;
	bool folded;
	char chomp; /* chomping indicator '-' or '+', else ' ' */
};

/* Reads the indicators. Returns the start of the next line, or NULL if more
 * than a comment follows them in the line. */
static const char *read_header(struct nesting *block)
{
	const char *p = block->p;
	const char *blanks;

	block->folded = *p++ == '>';
	block->chomp = ' ';
	if (*p == '-' || *p == '+')
		block->chomp = *p++;
	blanks = p;
	p = fast_blanks(p);
	if (*p == '#' && p > blanks)
		p = fast_line_end(block->fast, p);
	return *p == '\n' ? p + 1 : NULL;
}

/* Sets the indentation to that of the first line that is not blank. */
static bool find_indent(struct nesting *block, uint32_t parent)
{
	const char *end = block->fast->end;
	const char *p = block->p;
	size_t most = 0, n = 0;

	for (;;) {
		const char *line = p;

		if (p == end)
			return false;
		p = fast_blanks(p);
		n = (size_t)(p - line);
		if (*p != '\n')
			break;
		most = n > most ? n : most;
		p++;
	}
	block->indent = (uint32_t)n;
	return n >= most && n > parent && *p != '\t';
}

/* Copies the text of the line from p on, without its line end. */
static const char *take_line(struct fast *fast, const char *p)
{
	const char *lf = fast_line_end(fast, p);

	memcpy(fast->strings, p, (size_t)(lf - p));
	fast->strings += lf - p;
	return lf + 1;
}

static void put_breaks(struct fast *fast, uint32_t n)
{
	memset(fast->strings, '\n', n);
	fast->strings += n;
}

/* Appends the result of folding a line end and n blank lines between two
 * lines. */
static void join(const struct nesting *block, bool blank, uint32_t n)
{
	if (!block->folded || blank)
		n++;
	else if (!n)
		*block->fast->strings++ = ' ';
	put_breaks(block->fast, n);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Reads all lines; sets *blank_lines to the number of blank ones at the end. */
static bool read_lines(struct nesting *block, uint32_t *blank_lines)
{
	struct fast *fast = block->fast;
	const char *p = block->p;
	bool first = true, blank = false;
	uint32_t n = 0;

	while (p < fast->end) {
		const char *line = p;

		while (*p == ' ' && p - line < block->indent)
			p++;
		if (*p == '\n') {
			n++;
			p++;
			continue;
		}
		block->p = line;
		if (p - line < block->indent) {
			*blank_lines = n;
			return *p != '\t';
		}
		if (first)
			put_breaks(fast, n);
		else
			join(block, blank || is_blank(*p), n);
		first = false;
		blank = is_blank(*p);
		n = 0;
		p = take_line(fast, p);
	}
	block->p = p;
	*blank_lines = n;
	return true;
}

const char *fast_trim(const char *start, const char *end)
{
	const char *p = end;

	while (p > start + 1 && strchr(" \t\r\n", p[-1]))
		if (*--p == '\n' || *p == '\r')
			end = p;
	return end;
}

bool fast_block(struct fast *fast, const char *p, uint32_t parent,
		struct fast_text *text)
{
	struct nesting block = {.fast = fast, .p = p};
	uint32_t blank_lines;

	text->start = p;
	text->value = fast->strings;
	text->flags = NODE_BLOCK;
	text->plain = false;
	block.p = read_header(&block);
	if (!block.p || !find_indent(&block, parent) ||
	    !read_lines(&block, &blank_lines))
		return false;
	if (block.chomp != '-')
		put_breaks(fast, 1);
	if (block.chomp == '+')
		put_breaks(fast, blank_lines);
	text->len = (uint32_t)(fast->strings - text->value);
	*fast->strings++ = '\0';
	text->stop = block.p;
	text->end = fast_trim(p, block.p);
	return true;
}
