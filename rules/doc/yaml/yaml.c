/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The main loop of the YAML reader: passes libyaml's events to the tree
 * builder.
 *
 * Only the first document of the given bytes is read, as go-yaml's Unmarshal
 * does; the caller learns where it ended. Budgets (load_limits_default) are
 * checked before libyaml or the tree can grow, because libyaml needs time in
 * proportion to the flow depth for every token, and to the number of directives
 * for every directive.
 */
#include "yaml.h"

#include <string.h>

#include "base/err.h"
#include "base/escape.h"
#include "base/text.h"
#include "doc/load.h"
#include "rules/doc/yaml/block/yaml_block.h"

size_t yaml_break(const char *p, const char *end)
{
	size_t left = (size_t)(end - p);

	if (*p == '\n' || *p == '\r')
		return 1;
	if (left >= 2 && !memcmp(p, "\xc2\x85", 2))
		return 2;
	if (left >= 3 &&
	    (!memcmp(p, "\xe2\x80\xa8", 3) || !memcmp(p, "\xe2\x80\xa9", 3)))
		return 3;
	return 0;
}

bool yaml_starts_line(const char *start, const char *p)
{
	for (size_t n = 1; n <= 3; n++)
		if ((size_t)(p - start) >= n && yaml_break(p - n, p) == n)
			return true;
	return p == start;
}

enum {
	/* bytes of a directive, which are copied into each tag that uses it */
	DIRECTIVE_MAX = 1024,
	/* Number of bracket checks that take as long as starting a parser. */
	START_WORK = 500,
	LOOK_AHEAD = 1100, /* characters that libyaml may have read */
};

/* libyaml reads all directives in one call, so they are counted beforehand. */
static bool check_directives(struct yaml *yaml)
{
	uint32_t limit = yaml->loader->limits->directives;
	const char *end = yaml->text + yaml->end;
	const char *p = yaml->text + yaml->start;
	uint32_t n = 0;

	while (p < end) {
		const char *line = p;
		uint32_t at = (uint32_t)(p - yaml->text);
		size_t len = 0;

		while (p < end && (*p == ' ' || *p == '\t'))
			p++;
		if (p < end && *p != '#' && *p != '%' && !yaml_break(p, end))
			break;
		if (p < end && *p == '%' && ++n > limit)
			return yaml_refuse(yaml, at, at + 1,
					   "more than %u directives", limit);
		while (p < end && !(len = yaml_break(p, end)))
			p++;
		if (*line == '%' && p - line > DIRECTIVE_MAX)
			return yaml_refuse(yaml, at, at + 1,
					   "directive of more than %d bytes",
					   DIRECTIVE_MAX);
		p += len;
	}
	return true;
}

/* Skips blanks, line breaks and comments. */
static uint32_t skip_space(const char *text, uint32_t at, uint32_t end)
{
	bool comment = false;

	for (; at < end; at++) {
		size_t n = yaml_break(text + at, text + end);

		comment = !n && (comment || text[at] == '#');
		if (!n && !comment && text[at] != ' ' && text[at] != '\t')
			break;
		at += n ? (uint32_t)n - 1 : 0;
	}
	return at;
}

/* Skips the anchor or the tag at `at`. */
static uint32_t skip_property(const char *text, uint32_t at, uint32_t end)
{
	bool verbatim = end - at > 1 && text[at + 1] == '<';

	while (at < end && !yaml_break(text + at, text + end)) {
		if (verbatim ? text[at] == '>'
			     : strchr(" \t,[]{}", text[at]) != NULL)
			break;
		at++;
	}
	return at + (verbatim && at < end);
}

/*
 * Returns the offset after the anchor and the tag of a value. At most one of
 * each is skipped, because the next one may belong to the first key of a map.
 */
static uint32_t skip_properties(const char *text, uint32_t at, uint32_t end,
				const char *signs)
{
	while (at < end && text[at] && strchr(signs, text[at])) {
		/* Anchor and tag may occur in either order. */
		signs = signs[1] ? (text[at] == '&' ? "!" : "&") : "";
		at = skip_property(text, at, end);
		at = skip_space(text, at, end);
	}
	return at;
}

static const char *property_signs(const void *anchor, const void *tag)
{
	return anchor && tag ? "&!" : anchor ? "&" : tag ? "!" : "";
}

static bool has_escaped_slash(const char *p, const char *end)
{
	while ((p = memchr(p, '\\', (size_t)(end - p))) && end - p >= 2) {
		if (p[1] == '/')
			return true;
		p += 2;
	}
	return false;
}

/* Rejects texts that go-yaml's scanner, a port of an older libyaml, reads
 * differently. */
static void check_scanner(struct yaml *yaml, const struct yaml_text *text,
			  yaml_scalar_style_t style)
{
	struct load_issue issue = {
		.kind = LOAD_DISAGREEMENT,
		.start = text->start,
		.end = text->end,
	};
	const char *from = yaml->text + text->start;
	const char *end = yaml->text + text->end;

	if (style == YAML_PLAIN_SCALAR_STYLE && yaml->flow_depth &&
	    memchr(from, '?', (size_t)(end - from)))
		yaml_issue(yaml, &issue,
			   "kubectl rejects a plain '?' inside [ ] and { }: "
			   "quote the text");
	if (style == YAML_DOUBLE_QUOTED_SCALAR_STYLE &&
	    has_escaped_slash(from, end))
		yaml_issue(yaml, &issue,
			   "kubectl rejects the escape \\/ in YAML: write /");
}

static bool feed_scalar(struct yaml *yaml, const yaml_event_t *event)
{
	static const uint8_t flags[] = {
		[YAML_SINGLE_QUOTED_SCALAR_STYLE] = NODE_QUOTED,
		[YAML_DOUBLE_QUOTED_SCALAR_STYLE] = NODE_QUOTED,
		[YAML_LITERAL_SCALAR_STYLE] = NODE_BLOCK,
		[YAML_FOLDED_SCALAR_STYLE] = NODE_BLOCK,
	};
	struct yaml_text text = {
		.text = (const char *)event->data.scalar.value,
		.len = event->data.scalar.length,
		.tag = (const char *)event->data.scalar.tag,
		.anchor = (const char *)event->data.scalar.anchor,
		.start = yaml_offset(yaml, event->start_mark.index),
		.end = yaml_offset(yaml, event->end_mark.index),
		.plain = event->data.scalar.plain_implicit,
		.flags = flags[event->data.scalar.style],
	};

	text.absent = text.start == text.end;
	if (text.tag || text.anchor)
		text.start =
			skip_properties(yaml->text, text.start, text.end,
					property_signs(text.anchor, text.tag));
	/* For go-yaml, the comma is part of the tag. */
	if (text.tag && text.start == text.end && yaml->flow_depth &&
	    text.end < yaml->end && yaml->text[text.end] == ',')
		return yaml_refuse(
			yaml, text.end, text.end + 1,
			"no value after this tag: kubectl takes ',' as "
			"part of it");
	if (yaml->flow_depth || text.flags & NODE_QUOTED)
		check_scanner(yaml, &text, event->data.scalar.style);
	if (text.flags & NODE_BLOCK)
		text.end = (uint32_t)(fast_trim(yaml->text + text.start,
						yaml->text + text.end) -
				      yaml->text);
	return yaml_scalar(yaml, &text);
}

static bool feed_open(struct yaml *yaml, const yaml_event_t *event)
{
	bool map = event->type == YAML_MAPPING_START_EVENT;
	bool flow =
		map ? event->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE
		    : event->data.sequence_start.style ==
				YAML_FLOW_SEQUENCE_STYLE;
	const yaml_char_t *anchor = map ? event->data.mapping_start.anchor
					: event->data.sequence_start.anchor;
	const yaml_char_t *tag = map ? event->data.mapping_start.tag
				     : event->data.sequence_start.tag;
	struct node like = {
		.type = map ? NODE_MAP : NODE_SEQ,
		.flags = flow ? NODE_FLOW : 0,
		.start = yaml_offset(yaml, event->start_mark.index),
	};

	like.start = skip_properties(yaml->text, like.start, yaml->end,
				     property_signs(anchor, tag));
	yaml->flow_depth += flow;
	return yaml_open(yaml, &like, (const char *)anchor);
}

static bool feed(struct yaml *yaml, const yaml_event_t *event)
{
	uint32_t start;

	if (yaml->flow_depth &&
	    !yaml_spend(yaml, yaml->flow_depth,
			yaml_offset(yaml, event->start_mark.index)))
		return false;
	switch (event->type) {
	case YAML_SCALAR_EVENT:
		return feed_scalar(yaml, event);
	case YAML_ALIAS_EVENT:
		start = yaml_offset(yaml, event->start_mark.index);
		return yaml_alias(yaml, (const char *)event->data.alias.anchor,
				  start,
				  yaml_offset(yaml, event->end_mark.index));
	case YAML_SEQUENCE_START_EVENT:
	case YAML_MAPPING_START_EVENT:
		return feed_open(yaml, event);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		return yaml_close(yaml,
				  yaml_offset(yaml, event->end_mark.index));
	default:
		return true;
	}
}

/*
 * Counts the work on tokens that no event was charged for: libyaml reads the
 * tokens of 1024 characters before it returns the first one of a possible key.
 */
static void spend_ahead(struct yaml *yaml)
{
	const char *text = yaml->text + yaml->byte;
	uint64_t open = 0, work;

	for (uint32_t i = 0; i < LOOK_AHEAD && i < yaml->end - yaml->byte; i++)
		open += text[i] == '[' || text[i] == '{';
	work = open * open;
	yaml->work_left -= work < yaml->work_left ? work : yaml->work_left;
}

/* Reads all events of one document. Returns false if it is rejected. */
static bool read_document(struct yaml *yaml, uint32_t *used)
{
	bool more = true;

	while (more) {
		yaml_event_t *event = &yaml->event;
		bool good;

		if (!yaml_parser_parse(&yaml->parser, event)) {
			spend_ahead(yaml);
			return yaml_refuse_parser(yaml);
		}
		good = feed(yaml, event);
		if (event->type == YAML_DOCUMENT_END_EVENT) {
			*used = yaml_offset(yaml, event->end_mark.index);
			more = false;
		} else if (event->type == YAML_STREAM_END_EVENT) {
			more = false;
		}
		yaml_event_delete(event);
		if (!good) {
			spend_ahead(yaml);
			return false;
		}
	}
	return true;
}

/* Copies the next bytes of the text, at most size; returns their number. */
static size_t supply_text(struct yaml *yaml, unsigned char *out, size_t size)
{
	size_t left = yaml->end - yaml->supplied, n = 0;

	if (!yaml->cut) {
		n = left < size ? left : size;
		memcpy(out, yaml->text + yaml->supplied, n);
		yaml->supplied += (uint32_t)n;
		return n;
	}
	for (; n < size && yaml->supplied < yaml->end; yaml->supplied++)
		if (!yaml_is_cut(yaml, yaml->supplied))
			out[n++] = (unsigned char)yaml->text[yaml->supplied];
	return n;
}

/* Supplies libyaml with input. Like kubectl, adds a missing line end to the
 * last line of a file. */
static int supply(void *context, unsigned char *out, size_t size, size_t *given)
{
	struct yaml *yaml = context;

	*given = supply_text(yaml, out, size);
	if (*given)
		return 1;
	if (!yaml->ended && yaml->end > yaml->start &&
	    yaml->text[yaml->end - 1] != '\n') {
		*out = '\n';
		*given = 1;
	}
	yaml->ended = true;
	return 1;
}

/* Rejects byte order marks at the start of a line inside of the text: libyaml
 * skips such a mark, go-yaml reads it as a letter. */
static bool check_marks(struct yaml *yaml)
{
	const char *end = yaml->text + yaml->end;
	const char *start = yaml->text + yaml->start;

	if (yaml->ascii)
		return true;
	for (const char *p = start;
	     (p = memmem(p, (size_t)(end - p), "\xef\xbb\xbf", 3)); p += 3) {
		uint32_t at = (uint32_t)(p - yaml->text);

		if (yaml_starts_line(start, p))
			return yaml_refuse(
				yaml, at, at + 3,
				"byte order mark inside the text: remove it");
	}
	return true;
}

static void end_parser(void *context)
{
	struct yaml *yaml = context;

	yaml_event_delete(&yaml->event);
	yaml_parser_delete(&yaml->parser);
}

static bool run_parser(struct yaml *yaml, uint32_t *used)
{
	static const struct load_cost start = {.flow_work = START_WORK};
	struct escape_guard guard;
	bool good;

	if (!load_budget_spend(yaml->arena->budget, &start))
		return yaml_refuse(yaml, yaml->start, yaml->start + 1,
				   "too many documents");
	if (!yaml_parser_initialize(&yaml->parser))
		OUT_OF_MEMORY();
	yaml_parser_set_encoding(&yaml->parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input(&yaml->parser, supply, yaml);
	escape_guard(&guard, end_parser, yaml);
	good = read_document(yaml, used);
	escape_unguard(&guard);
	yaml_parser_delete(&yaml->parser);
	return good;
}

bool yaml_read_events(struct loader *loader, struct yaml_first *first)
{
	const char *text = loader->source->text;
	uint64_t flow_work;
	bool good;
	struct yaml yaml = {
		.loader = loader,
		.arena = loader->arena,
		.text = text,
		.start = first->start,
		.end = first->end,
		.anchors = {.type = NODE_MAP},
		.nodes_max = cost_nodes(loader),
		.nodes_left = cost_nodes(loader),
		.work_left = cost_flow_work(loader),
		.decodes = 1, /* counts the document itself */
	};

	flow_work = yaml.work_left;
	first->used = first->end;
	first->root = NULL;
	/* A file that was concatenated from several files contains their byte
	 * order marks. */
	if (yaml.end - yaml.start >= 3 &&
	    !memcmp(text + yaml.start, "\xef\xbb\xbf", 3))
		yaml.start += 3;
	yaml.byte = yaml.supplied = yaml.start;
	yaml.cut = text_find(text + yaml.start, yaml.end - yaml.start,
			     "\r\r\n") != NULL;
	yaml.ascii = !yaml.cut &&
		     text_is_ascii(text + yaml.start, yaml.end - yaml.start);
	good = check_marks(&yaml) && check_directives(&yaml) &&
	       run_parser(&yaml, &first->used) &&
	       (!yaml.unfit || yaml_check_fit(&yaml));
	cost_spend(loader, yaml.nodes_max - yaml.nodes_left,
		   flow_work - yaml.work_left);
	if (!good)
		return false;
	first->root = yaml.root;
	return true;
}

bool yaml_read_first(struct loader *loader, struct yaml_first *first)
{
	return yaml_fast_read(loader, first) || yaml_read_events(loader, first);
}

struct node *yaml_read(struct loader *loader, uint32_t start, uint32_t end)
{
	struct yaml_first first = {.start = start, .end = end};

	yaml_read_first(loader, &first);
	return first.root;
}
