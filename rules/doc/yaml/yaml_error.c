/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Issues of the YAML reader, and the byte offsets of libyaml's positions.
 * libyaml's message (the expected token and its context) is kept unless it is
 * only understandable with knowledge of libyaml; then another one replaces it.
 * An issue covers the character at which reading stopped.
 */
#include <stdarg.h>
#include <string.h>

#include "base/array.h"
#include "base/err.h"
#include "base/text.h"
#include "yaml.h"

/*
 * Converts libyaml's positions into byte offsets. libyaml counts code points.
 * In ASCII text these are byte offsets; in other text, a cursor advances with
 * the positions, which rarely go back. kubectl removes one CR of a line that
 * ends in CR CR LF, so libyaml does not get the second one.
 */

static bool is_continuation(char c)
{
	return (c & 0xc0) == 0x80;
}

bool yaml_is_cut(const struct yaml *yaml, uint32_t at)
{
	const char *p = yaml->text + at;

	return yaml->cut && at > yaml->start && yaml->end - at >= 2 &&
	       !memcmp(p - 1, "\r\r\n", 3);
}

/* Returns the offset in the source of byte n of libyaml's input. */
static uint32_t yaml_byte(const struct yaml *yaml, size_t n)
{
	uint32_t at = yaml->start + (uint32_t)n;

	for (uint32_t i = yaml->start; yaml->cut && i <= at && i < yaml->end;
	     i++)
		at += yaml_is_cut(yaml, i);
	return at;
}

uint32_t yaml_offset(struct yaml *yaml, size_t index)
{
	const char *text = yaml->text;
	uint32_t byte = yaml->byte;

	if (yaml->ascii) {
		size_t len = yaml->end - yaml->start;

		return yaml->start + (uint32_t)(index < len ? index : len);
	}
	for (; yaml->index < index && byte < yaml->end; yaml->index++)
		do
			byte++;
		while (byte < yaml->end && (is_continuation(text[byte]) ||
					    yaml_is_cut(yaml, byte)));
	for (; yaml->index > index && byte > yaml->start; yaml->index--)
		do
			byte--;
		while (byte > yaml->start && (is_continuation(text[byte]) ||
					      yaml_is_cut(yaml, byte)));
	return yaml->byte = byte;
}

/* Cleans a message, in which a key may contain any bytes and may be cut. */
static void clean(char *text)
{
	size_t left = strlen(text);

	while (left) {
		size_t n = utf8_length(text, left);

		if (!n || (unsigned char)*text < ' ' || *text == 0x7f)
			*text = '?';
		n = n ? n : 1;
		text += n;
		left -= n;
	}
}

bool yaml_issue(struct yaml *yaml, const struct load_issue *issue,
		const char *fmt, ...)
{
	struct loader *loader = yaml->loader;
	struct load_issue full = *issue;
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = arena_vprintf(yaml->arena, fmt, ap);
	va_end(ap);
	clean(text);
	full.text = text;
	if (full.end > yaml->end)
		full.end = yaml->end;
	if (loader->issue)
		loader->issue(loader->context, &full);
	return issue->kind != LOAD_SYNTAX;
}

bool yaml_refuse(struct yaml *yaml, uint32_t start, uint32_t end,
		 const char *fmt, ...)
{
	struct load_issue issue = {
		.kind = LOAD_SYNTAX, .start = start, .end = end};
	va_list ap;
	const char *text;

	va_start(ap, fmt);
	text = arena_vprintf(yaml->arena, fmt, ap);
	va_end(ap);
	return yaml_issue(yaml, &issue, "%s", text);
}

unsigned yaml_line(struct yaml *yaml, uint32_t offset)
{
	return source_position(yaml->loader->source, offset).line;
}

/* Returns the end of the character at offset. */
static uint32_t behind(struct yaml *yaml, uint32_t offset)
{
	size_t n;

	if (offset >= yaml->end)
		return offset;
	n = utf8_length(yaml->text + offset, yaml->end - offset);
	return offset + (uint32_t)(n ? n : 1);
}

/* Returns the node after this one in the author's order. */
static const struct node *next_node(const struct node *node)
{
	bool collection = node->type == NODE_MAP || node->type == NODE_SEQ;

	if (collection && node->first)
		return node->first;
	while (node && !node->next)
		node = node->parent;
	return node ? node->next : NULL;
}

bool yaml_check_fit(struct yaml *yaml)
{
	const struct node *node = yaml->root;

	for (; node; node = next_node(node)) {
		if (node->key && *node->key == *YAML_UNFIT)
			return yaml_refuse(yaml, node->key_start, node->key_end,
					   "%s cannot be a key", node->key + 1);
		if (node->type == NODE_FLOAT && !node->str)
			return yaml_refuse(
				yaml, node->start, node->end,
				"JSON, and therefore Kubernetes, has no "
				"infinity and no NaN");
	}
	return true;
}

/* Returns the first byte of the incomplete sequence at which libyaml
 * stopped. */
static uint32_t lead_byte(struct yaml *yaml, uint32_t at)
{
	for (uint32_t back = 3; back; back--) {
		uint32_t lead = at - back;

		if (at < yaml->start + back ||
		    (unsigned char)yaml->text[lead] < 0xc0)
			continue;
		if (!utf8_length(yaml->text + lead, yaml->end - lead))
			return lead;
	}
	return at;
}

/* Rejects bytes that YAML does not allow. */
static bool refuse_bytes(struct yaml *yaml)
{
	uint32_t at = yaml_byte(yaml, yaml->parser.problem_offset);
	int value = yaml->parser.problem_value;

	if (text_eq(yaml->parser.problem,
		    "control characters are not allowed")) {
		if (value == 0)
			return yaml_refuse(yaml, at, at + 1,
					   "NUL byte: this is not text");
		return yaml_refuse(yaml, at, behind(yaml, at),
				   "control character U+%04X is not allowed "
				   "in YAML",
				   (unsigned)value);
	}
	at = lead_byte(yaml, at);
	return yaml_refuse(yaml, at, at + 1, "invalid UTF-8 (byte 0x%02x)",
			   at < yaml->end ? (unsigned char)yaml->text[at] : 0);
}

static const struct {
	const char *problem, *context, *text;
} wordings[] = {
	{"found undefined tag handle", NULL,
	 "this tag prefix has no %TAG directive"},
	{"mapping values are not allowed in this context", NULL,
	 "':' is not allowed here: quote the text before it, or check the "
	 "indentation"},
	{"block sequence entries are not allowed in this context", NULL,
	 "'-' is not allowed here: check the indentation"},
	{"could not find expected ':'", "while scanning a simple key",
	 "no ':' after this key"},
	{"did not find expected <document start>", NULL,
	 "expected a new document (---): text after the end of the value"},
	{"found unexpected ':'", "while scanning a plain scalar",
	 "readers differ on ':' before ',' or a bracket: "
	 "quote the text, or put a blank after it"},
	{"did not find expected node content", NULL, "expected a value"},
	{"did not find expected key", "while parsing a block mapping",
	 "expected a key at the indentation of this map"},
	{"did not find expected '-' indicator",
	 "while parsing a block collection",
	 "expected '-' at the indentation of this list"},
	{"did not find expected alphabetic or numeric character",
	 "while scanning an alias",
	 "'*' starts an alias: quote the text, or name an anchor"},
	{"did not find expected alphabetic or numeric character",
	 "while scanning an anchor",
	 "'&' starts an anchor: quote the text, or name the anchor"},
};

static const char *bad_start(char c)
{
	switch (c) {
	case '\t':
		return "a tab cannot indent or start a value: use spaces";
	case '%':
		return "'%' cannot start a value: quote it";
	case '@':
		return "'@' cannot start a value: quote it";
	case '`':
		return "'`' cannot start a value: quote it";
	default:
		return "this character cannot start a value: quote it";
	}
}

static const char *parser_words(struct yaml *yaml, uint32_t at)
{
	const char *problem = yaml->parser.problem;
	const char *context = yaml->parser.context;

	if (!strcmp(problem, "found character that cannot start any token"))
		return bad_start(at < yaml->end ? yaml->text[at] : ' ');
	for (size_t i = 0; i < ARRAY_SIZE(wordings); i++) {
		if (strcmp(problem, wordings[i].problem))
			continue;
		if (!wordings[i].context ||
		    text_eq(context, wordings[i].context))
			return wordings[i].text;
	}
	return NULL;
}

bool yaml_refuse_parser(struct yaml *yaml)
{
	const yaml_parser_t *parser = &yaml->parser;
	const char *problem = parser->problem;
	const char *context = parser->context;
	uint32_t at, from;
	const char *own;
	unsigned line;

	if (parser->error == YAML_READER_ERROR)
		return refuse_bytes(yaml);
	if (parser->error == YAML_MEMORY_ERROR || !problem)
		OUT_OF_MEMORY();
	/* Convert the problem's mark last, because the cursor moves forward. */
	from = yaml_offset(yaml, parser->context_mark.index);
	at = yaml_offset(yaml, parser->problem_mark.index);
	line = context ? yaml_line(yaml, from) : 0;
	own = parser_words(yaml, at);
	if (own && line && line != yaml_line(yaml, at))
		return yaml_refuse(yaml, at, behind(yaml, at),
				   "%s, which starts on line %u", own, line);
	if (own)
		return yaml_refuse(yaml, at, behind(yaml, at), "%s", own);
	if (!context)
		return yaml_refuse(yaml, at, behind(yaml, at), "%s", problem);
	return yaml_refuse(yaml, at, behind(yaml, at),
			   "%s %s that starts on line %u", problem, context,
			   line);
}

bool yaml_spend(struct yaml *yaml, uint64_t steps, uint32_t at)
{
	if (steps <= yaml->work_left) {
		yaml->work_left -= steps;
		return true;
	}
	yaml->loader->costly = true;
	return yaml_refuse(yaml, at, at + 1,
			   "too much work to read: [ ] and { } too deep for "
			   "their length, or too many duplicate keys");
}
