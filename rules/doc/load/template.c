/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Detects templates. Markup inside of quoted or block strings is valid YAML and
 * may be meant for a later reader (KServe's `{{ if .GlobalConfig.EnableTLS }}`,
 * chat templates). Markup where YAML expects structure belongs to Helm, Go or
 * Jinja and makes the YAML invalid. So the position of markup is checked line
 * by line; only markup that Helm alone defines (.Values) counts everywhere.
 */
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "doc/load.h"

struct template_line {
	const char *start, *end; /* without indentation and line end */
	size_t indent;
};

struct template_scan {
	bool block;	     /* the line is inside of a block scalar */
	size_t block_indent; /* indentation of the line that opened the block
				scalar */
	/* quote of the string that is open at the start of the line, or 0 */
	char quote;
};

static size_t left(const struct template_line *line, const char *p)
{
	return (size_t)(line->end - p);
}

static bool starts(const struct template_line *line, const char *p,
		   const char *prefix)
{
	size_t n = strlen(prefix);

	return left(line, p) >= n && memcmp(p, prefix, n) == 0;
}

static const char *skip_blanks(const struct template_line *line, const char *p)
{
	while (p < line->end && (*p == ' ' || *p == '\t'))
		p++;
	return p;
}

/* True if the line contains a name that only Helm defines, inside of `{{
 * }}`. */
static bool helm_in(const struct template_line *line)
{
	static const char *const names[] = {
		".Values",    ".Release.",   ".Chart.",	  ".Capabilities.",
		"include \"", "template \"", "define \"",
	};
	const char *p = line->start, *end;

	while ((p = text_find(p, left(line, p), "{{"))) {
		p += 2;
		end = text_find(p, left(line, p), "}}");
		if (!end)
			end = line->end;
		for (size_t i = 0; i < ARRAY_SIZE(names); i++)
			if (text_find(p, (size_t)(end - p), names[i]))
				return true;
	}
	return false;
}

/* True if markup at p is a trim marker, a comment or a keyword: `{{-`, `{{ if`,
 * `{%`, `{# #}`. */
static bool is_control(const struct template_line *line, const char *p)
{
	static const char *const words[] = {
		"if",	    "range",   "with",	"end",	  "else", "define",
		"template", "include", "block", "toYaml", "tpl",
	};

	if (starts(line, p, "{%"))
		return true;
	if (starts(line, p, "{#"))
		return memmem(p, left(line, p), "#}", 2);
	if (!starts(line, p, "{{"))
		return false;
	p += 2;
	if (starts(line, p, "-") || starts(line, p, "/*"))
		return true;
	p = skip_blanks(line, p);
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		size_t n = strlen(words[i]);

		if (starts(line, p, words[i]) &&
		    (left(line, p) == n || strchr(" }(", p[n])))
			return true;
	}
	return false;
}

static bool is_key_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || (c && strchr("_./-\"'", c));
}

/* Returns the first byte of the value, after `- ` and `key: `. */
static const char *value_of(const struct template_line *line)
{
	const char *p = line->start, *key;

	while (starts(line, p, "- "))
		p = skip_blanks(line, p + 1);
	for (key = p; key < line->end && is_key_char(*key); key++)
		;
	if (key > p && starts(line, key, ": "))
		p = skip_blanks(line, key + 1);
	return p;
}

/* True if the value ends with a `|` or `>` header, so that the lines below it
 * are text. */
static bool opens_block(const char *value, const struct template_line *line)
{
	const char *p = value;

	/* A tag or an anchor may precede the header. */
	while (p < line->end && (*p == '!' || *p == '&')) {
		while (p < line->end && *p != ' ')
			p++;
		p = skip_blanks(line, p);
	}
	if (p == line->end || (*p != '|' && *p != '>'))
		return false;
	for (p++; p < line->end && strchr("+-0123456789", *p) && *p; p++)
		;
	p = skip_blanks(line, p);
	return p == line->end || *p == '#';
}

/* Returns the quote that is still open after the line, 0 if there is none. */
static char open_quote(const struct template_line *line, const char *p,
		       char quote)
{
	for (; p < line->end; p++) {
		if (quote == '"' && *p == '\\')
			p++;
		else if (*p == quote)
			return 0;
	}
	return quote;
}

static bool is_template_line(struct template_scan *scan,
			     const struct template_line *line)
{
	const char *value;

	if (scan->block &&
	    (line->start == line->end || line->indent > scan->block_indent))
		return helm_in(line);
	scan->block = false;
	if (scan->quote) {
		scan->quote = open_quote(line, line->start, scan->quote);
		return helm_in(line);
	}
	if (starts(line, line->start, "#"))
		return false;
	value = value_of(line);
	if (is_control(line, value) || helm_in(line))
		return true;
	/* `{{` at the start of a value is not useful YAML. */
	if (value > line->start && starts(line, value, "{{"))
		return true;
	if (opens_block(value, line)) {
		scan->block = true;
		scan->block_indent = line->indent;
	} else if (value < line->end && (*value == '\'' || *value == '"')) {
		scan->quote = open_quote(line, value + 1, *value);
	}
	return false;
}

static struct template_line line_at(const char *p, const char *end)
{
	const char *lf = memchr(p, '\n', (size_t)(end - p));
	struct template_line line = {.start = p, .end = lf ? lf : end};

	if (line.end > p && line.end[-1] == '\r')
		line.end--;
	while (line.start < line.end && *line.start == ' ')
		line.start++;
	line.indent = (size_t)(line.start - p);
	return line;
}

/* True if the text contains `{{`, `{%` or `{#`. Most files do not, and their
 * lines are not checked. */
static bool has_markup(const char *p, const char *end)
{
	while (p < end && (p = memchr(p, '{', (size_t)(end - p)))) {
		if (++p < end && (*p == '{' || *p == '%' || *p == '#'))
			return true;
	}
	return false;
}

bool template_in(const char *text, size_t len)
{
	const char *p = text, *end = text + len;
	struct template_scan scan = {0};

	if (!has_markup(p, end))
		return false;
	while (p < end) {
		const char *lf = memchr(p, '\n', (size_t)(end - p));
		struct template_line line = line_at(p, end);

		if (is_template_line(&scan, &line))
			return true;
		p = lf ? lf + 1 : end;
	}
	return false;
}
