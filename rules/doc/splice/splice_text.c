/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes values as YAML text. A string is quoted if YAML 1.1, as kubectl reads
 * it, would read the plain text as another type, or if other readers might
 * (times, dates, 1_000). In quoted text, the characters that JSON escapes are
 * escaped, and also line breaks and characters that YAML does not allow.
 */
#include "splice_internal.h"

#include <string.h>

#include "base/text.h"
#include "rules/doc/yaml/scalar/yaml_scalar.h"

/* --- strings ------------------------------------------------------------- */

/* True for a character, other than quotes and backslashes, that must be escaped
 * between double quotes in YAML. */
static bool special(const unsigned char *p, size_t n)
{
	if (n == 1)
		return *p < 0x20 || *p == 0x7f;
	if (n == 2)
		return p[0] == 0xc2 && p[1] < 0xa0;
	if (n != 3)
		return false;
	return !memcmp(p, "\xe2\x80\xa8", 3) || !memcmp(p, "\xe2\x80\xa9", 3) ||
	       !memcmp(p, "\xef\xbb\xbf", 3) || !memcmp(p, "\xef\xbf\xbe", 3) ||
	       !memcmp(p, "\xef\xbf\xbf", 3);
}

static void add_special(struct buf *out, const unsigned char *p, size_t n)
{
	static const char from[] = "\n\t\r\b\f", to[] = "ntrbf";
	const char *named = *p ? strchr(from, *p) : NULL;

	if (n == 1 && named)
		buf_addf(out, "\\%c", to[named - from]);
	else
		buf_addf(out, "\\u%04x", utf8_code_point((const char *)p, n));
}

static void add_quoted(struct buf *out, const char *s, size_t len)
{
	buf_addc(out, '"');
	for (size_t i = 0, n; i < len; i += n) {
		const unsigned char *p = (const unsigned char *)s + i;

		n = utf8_length(s + i, len - i);
		n += !n;
		if (special(p, n)) {
			add_special(out, p, n);
			continue;
		}
		if (*p == '"' || *p == '\\')
			buf_addc(out, '\\');
		buf_add(out, p, n);
	}
	buf_addc(out, '"');
}

static bool resolves(const char *s, size_t len)
{
	struct scalar scalar;

	if (!scalar_may_resolve((unsigned char)*s))
		return false;
	scalar_resolve(s, len, NULL, &scalar);
	return scalar.kind != SCALAR_STRING;
}

/* True for texts that other YAML 1.1 readers read as numbers or dates: base 60,
 * dates and 1_000. */
static bool like_number(const char *s, size_t len)
{
	bool joined = false;

	for (size_t i = 0; i < len; i++) {
		if (!strchr("0123456789+-.:_", s[i]) || !s[i])
			return false;
		joined |= s[i] == ':' || s[i] == '_' || (i && s[i] == '-');
	}
	return joined;
}

static bool bad_start(const char *s, size_t len)
{
	if (strchr(",[]{}#&*!|>'\"%@`?:= \t", *s) || !*s)
		return true;
	if (*s == '-' && (len == 1 || s[1] == ' ' || s[1] == '-'))
		return true;
	return !strncmp(s, "<<", 2) || !strncmp(s, "...", 3);
}

static bool bad_inside(const char *s, size_t len, bool flow)
{
	for (size_t i = 0, n; i < len; i += n) {
		n = utf8_length(s + i, len - i);
		if (!n || special((const unsigned char *)s + i, n))
			return true;
		if (s[i] == ':' && (i + 1 == len || s[i + 1] == ' '))
			return true;
		if (s[i] == '#' && i && s[i - 1] == ' ')
			return true;
		if (flow && strchr(",[]{}?:#", s[i]))
			return true;
	}
	return s[len - 1] == ' ';
}

static bool needs_quotes(const char *s, size_t len, bool flow)
{
	return !len || bad_start(s, len) || bad_inside(s, len, flow) ||
	       resolves(s, len) || like_number(s, len);
}

static void add_string(struct buf *out, const char *s, size_t len,
		       const struct style *style, bool flow)
{
	if ((style->json && flow) || needs_quotes(s, len, flow))
		add_quoted(out, s, len);
	else
		buf_add(out, s, len);
}

void text_key(struct buf *out, const char *key, size_t len, char quote,
	      bool flow)
{
	if (quote == '\'' && !needs_quotes(key, len, flow) &&
	    !memchr(key, '\'', len))
		buf_addf(out, "'%.*s'", (int)len, key);
	else if (quote || needs_quotes(key, len, flow))
		add_quoted(out, key, len);
	else
		buf_add(out, key, len);
}

void text_scalar(struct buf *out, const struct node *node,
		 const struct style *style, bool flow)
{
	if (node->type == NODE_STRING)
		add_string(out, node->str, node->len, style, flow);
	else if (node->type == NODE_MAP)
		buf_adds(out, "{}");
	else if (node->type == NODE_SEQ)
		buf_adds(out, "[]");
	else if (node->type == NODE_NULL)
		buf_adds(out, "null");
	else
		buf_add(out, node->str, node->len);
}

/* --- flow ---------------------------------------------------------------- */

static void add_break(struct buf *out, const struct style *style,
		      const char *indent)
{
	buf_adds(out, style->nl);
	buf_adds(out, indent);
}

void text_flow_entry(struct buf *out, const struct node *node,
		     const struct style *style, const char *indent)
{
	if (node->key) {
		add_string(out, node->key, node->key_len, style, true);
		buf_adds(out, style->tight ? ":" : ": ");
	}
	text_flow(out, node, style, indent);
}

static void flow_children(struct buf *out, const struct node *node,
			  const struct style *style, const char *indent)
{
	for (const struct node *child = node->first; child;
	     child = child->next) {
		if (child != node->first)
			buf_adds(out,
				 style->tight || style->lines ? "," : ", ");
		if (style->lines)
			add_break(out, style, indent);
		text_flow_entry(out, child, style, indent);
	}
}

void text_flow(struct buf *out, const struct node *node,
	       const struct style *style, const char *indent)
{
	bool map = node->type == NODE_MAP;
	struct buf inner;

	if ((!map && node->type != NODE_SEQ) || !node->first) {
		text_scalar(out, node, style, true);
		return;
	}
	buf_init(&inner);
	buf_adds(&inner, indent);
	if (style->lines)
		buf_adds(&inner, style->unit);
	buf_addc(out, map ? '{' : '[');
	flow_children(out, node, style, inner.data);
	if (style->lines)
		add_break(out, style, indent);
	buf_addc(out, map ? '}' : ']');
	buf_release(&inner);
}

/* --- block --------------------------------------------------------------- */

void text_newline(struct buf *out, const struct style *style, unsigned col)
{
	buf_adds(out, style->nl);
	while (col--)
		buf_addc(out, ' ');
}

void text_block_value(struct buf *out, const struct node *node,
		      const struct style *style, unsigned col)
{
	unsigned inner = col + style->step, dash = col + style->offset;

	if (!node->first) {
		buf_addc(out, ' ');
		text_scalar(out, node, style, false);
		return;
	}
	for (const struct node *child = node->first; child;
	     child = child->next) {
		if (node->type == NODE_MAP) {
			text_newline(out, style, inner);
			text_block_entry(out, child, style, inner);
		} else {
			text_newline(out, style, dash);
			text_block_item(out, child, style, dash);
		}
	}
}

void text_block_entry(struct buf *out, const struct node *node,
		      const struct style *style, unsigned col)
{
	add_string(out, node->key, node->key_len, style, false);
	buf_addc(out, ':');
	text_block_value(out, node, style, col);
}

void text_block_item(struct buf *out, const struct node *node,
		     const struct style *style, unsigned col)
{
	unsigned inner = col + 1 + style->gap;

	buf_addc(out, '-');
	for (unsigned i = 0; i < style->gap; i++)
		buf_addc(out, ' ');
	if (!node->first)
		text_scalar(out, node, style, false);
	for (const struct node *child = node->first; child;
	     child = child->next) {
		if (child != node->first)
			text_newline(out, style, inner);
		if (node->type == NODE_MAP)
			text_block_entry(out, child, style, inner);
		else
			text_block_item(out, child, style, inner);
	}
}
