/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Splits files into documents as kubectl does (k8s.io/apimachinery
 * pkg/util/yaml): a file whose first byte is '{' is a sequence of JSON values.
 * Other files, and those whose first or second value is not JSON, are split at
 * "---" lines into chunks, of which kubectl reads the first document. Text that
 * kubectl drops or rejects, but YAML can read, is a document with
 * LOAD_DISAGREEMENT.
 */
#include "doc/load.h"

#include <string.h>

#include "base/array.h"
#include "base/block.h"
#include "base/file.h"
#include "base/text.h"
#include "rules/doc/yaml/yaml.h"

const struct load_limits load_limits_default = {
	.bytes = FILE_MANIFEST_MAX,
	.depth = 1000,
	.nodes = 2000000,
	.documents = 100000,
	.directives = 64,
	/*
	 * libyaml checks every open bracket for each token: 100 million checks
	 * take about 0.3 s.
	 */
	.flow_work = 100000000,
};

enum {
	JSON_LOOK = 4096, /* kubectl looks for the '{' in this many bytes */
};

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Returns the length of white space at `at` (Go's unicode.IsSpace), or 0. */
static uint32_t space_length(const struct loader *loader, uint32_t at)
{
	static const char spaces[][4] = {
		"\u1680", "\u2000", "\u2001", "\u2002", "\u2003", "\u2004",
		"\u2005", "\u2006", "\u2007", "\u2008", "\u2009", "\u200a",
		"\u2028", "\u2029", "\u202f", "\u205f", "\u3000",
	};
	const char *p = loader->source->text + at;
	size_t left = loader->source->len - at;

	if (!left || !(*p & 0x80))
		return left && is_space(*p);
	if (left >= 2 && *p == '\xc2' && (p[1] == '\x85' || p[1] == '\xa0'))
		return 2;
	for (size_t i = 0; i < ARRAY_SIZE(spaces); i++)
		if (left >= 3 && !memcmp(p, spaces[i], 3))
			return 3;
	return 0;
}

static uint32_t skip_space(const struct loader *loader, uint32_t at)
{
	uint32_t n;

	while ((n = space_length(loader, at)))
		at += n;
	return at;
}

void loader_init(struct loader *loader, struct source *source,
		 const struct load_limits *limits, struct arena *arena)
{
	uint32_t first;

	*loader = (struct loader){
		.source = source,
		.limits = limits,
		.arena = arena,
	};
	load_budget_spend(arena->budget,
			  &(struct load_cost){.bytes = source->len});
	if (source->len > limits->bytes)
		return;
	first = skip_space(loader, 0);
	loader->json = first < source->len && first < JSON_LOOK &&
		       source->text[first] == '{';
}

static void report(struct loader *loader, const struct load_issue *issue)
{
	if (loader->issue)
		loader->issue(loader->context, issue);
}

static void disagree(struct loader *loader, uint32_t start, uint32_t end,
		     const char *text)
{
	struct load_issue issue = {
		.kind = LOAD_DISAGREEMENT,
		.start = start,
		.end = end,
		.text = text,
	};

	report(loader, &issue);
}

/* Rejects the unread part of the file. */
static int refuse_rest(struct loader *loader, const char *fmt,
		       unsigned long long limit)
{
	struct load_issue issue = {
		.kind = LOAD_SYNTAX,
		.start = loader->next,
		.end = loader->next,
		.text = arena_printf(loader->arena, "more than %llu %s", limit,
				     fmt),
	};

	report(loader, &issue);
	loader->done = true;
	return 0;
}

/* --- issues that may be dropped ------------------------------------------- */

struct held {
	struct load_issue issue;
	struct held *next;
};

/* Issues of a JSON value, stored until it is known whether it is JSON. */
struct hold {
	struct arena *arena;
	struct held *first, **last;
	void (*issue)(void *context, const struct load_issue *issue);
	void *context;
};

static void hold_issue(void *context, const struct load_issue *issue)
{
	struct hold *hold = context;
	struct held *held = ARENA_NEW(hold->arena, struct held);

	held->issue = *issue;
	*hold->last = held;
	hold->last = &held->next;
}

static void hold_start(struct hold *hold, struct loader *loader)
{
	*hold = (struct hold){
		.arena = loader->arena,
		.last = &hold->first,
		.issue = loader->issue,
		.context = loader->context,
	};
	loader->issue = hold_issue;
	loader->context = hold;
}

static void hold_stop(const struct hold *hold, struct loader *loader)
{
	loader->issue = hold->issue;
	loader->context = hold->context;
}

static void hold_report(const struct hold *hold, struct loader *loader)
{
	for (const struct held *held = hold->first; held; held = held->next)
		report(loader, &held->issue);
}

/* --- kubectl's splitter --------------------------------------------------- */

enum separator {
	SEPARATOR_PLAIN,
	SEPARATOR_VALUE, /* "--- a: 1": YAML reads it, kubectl does not */
	SEPARATOR_TIGHT, /* "---a" */
};

static uint32_t line_end(const struct loader *loader, uint32_t at)
{
	const char *text = loader->source->text;
	const char *lf = memchr(text + at, '\n', loader->source->len - at);

	return lf ? (uint32_t)(lf + 1 - text) : (uint32_t)loader->source->len;
}

/* Marks the bytes of a block that end a line followed by '-'. One byte after
 * the block must be readable. */
static struct block ends_before_dash(const char *p)
{
	return block_and(block_is(block_read(p), '\n'),
			 block_is(block_read(p + 1), '-'));
}

/* Returns the first "\n---" from p on, or NULL. It is rare. */
static const char *find_dashes(const char *p, const char *end)
{
	for (; end - p >= 2 * BLOCK + 3; p += 2 * BLOCK) {
		const char *found = NULL;

		if (block_any(block_or(ends_before_dash(p),
				       ends_before_dash(p + BLOCK))))
			found = text_find(p, 2 * BLOCK + 3, "\n---");
		if (found)
			return found;
	}
	return text_find(p, (size_t)(end - p), "\n---");
}

static bool starts_line(const struct loader *loader, uint32_t at)
{
	return at == loader->yaml || loader->source->text[at - 1] == '\n';
}

/* Returns the next line at or after `at` that begins with ---, or the end. */
static uint32_t find_separator(const struct loader *loader, uint32_t at)
{
	const char *text = loader->source->text;
	size_t len = loader->source->len;
	const char *found;

	if (starts_line(loader, at) && len - at >= 3 &&
	    !memcmp(text + at, "---", 3))
		return at;
	found = find_dashes(text + at, text + len);
	return found ? (uint32_t)(found + 1 - text) : (uint32_t)len;
}

static enum separator classify(const struct loader *loader, uint32_t at)
{
	uint32_t end = line_end(loader, at);
	uint32_t p = skip_space(loader, at + 3);

	if (p >= end || loader->source->text[p] == '#')
		return SEPARATOR_PLAIN;
	return p > at + 3 ? SEPARATOR_VALUE : SEPARATOR_TIGHT;
}

/* True for BLOCK bytes of printable ASCII and tabs. */
static bool is_common(struct block block)
{
	struct block control =
		block_or(block_below(block, ' '), block_is(block, 0x7f));

	return !block_any(block_without(control, block_is(block, '\t')));
}

/* Returns the end of a comment, or its first byte that YAML rejects. */
static uint32_t skip_comment(const char *text, uint32_t at, uint32_t end)
{
	while (end - at >= BLOCK && is_common(block_read(text + at)))
		at += BLOCK;
	while (at < end) {
		unsigned char c = (unsigned char)text[at];
		size_t n;

		if ((c >= ' ' && c < 0x7f) || c == '\t') {
			at++;
			continue;
		}
		n = utf8_length(text + at, end - at);
		if (n < 2 || yaml_break(text + at, text + end) ||
		    (c == 0xc2 && (unsigned char)text[at + 1] < 0xa0) ||
		    (n == 3 && memcmp(text + at, "\xef\xbf\xbd", 3) > 0))
			break;
		at += (uint32_t)n;
	}
	return at;
}

static bool is_document_start(const char *text, uint32_t at, uint32_t end)
{
	return end - at >= 3 && !memcmp(text + at, "---", 3) &&
	       yaml_starts_line(text, text + at) &&
	       (end - at == 3 || is_space(text[at + 3]) ||
		yaml_break(text + at + 3, text + end));
}

static bool is_blank(const char *text, uint32_t at, bool indent)
{
	/* YAML does not allow a tab as indentation. */
	return text[at] == ' ' || (text[at] == '\t' && !indent);
}

/* Returns the first byte that is not in a blank, comment or "---", or end. */
static uint32_t find_content(const struct loader *loader, uint32_t at,
			     uint32_t end)
{
	const char *text = loader->source->text;
	bool indent = yaml_starts_line(text, text + at);
	size_t n;

	while (at < end) {
		if (is_blank(text, at, indent)) {
			at++;
		} else if ((n = yaml_break(text + at, text + end))) {
			at += (uint32_t)n;
			indent = true;
		} else if (text[at] == '#') {
			at = skip_comment(text, at, end);
			if (at < end && !yaml_break(text + at, text + end))
				return at;
		} else if (is_document_start(text, at, end)) {
			at += 3;
			indent = false;
		} else {
			return at;
		}
	}
	return end;
}

/* True if all lines but comments are directives, of the next document. */
static bool only_directives(const struct loader *loader, uint32_t start,
			    uint32_t end)
{
	const char *text = loader->source->text;
	bool any = false;

	for (uint32_t at = start; at < end; at = line_end(loader, at)) {
		bool directive = text[at] == '%';

		if (!directive &&
		    find_content(loader, at, line_end(loader, at)) !=
			    line_end(loader, at))
			return false;
		if (text[at] == '-')
			return false;
		any |= directive;
	}
	return any;
}

static void disagree_separator(struct loader *loader, uint32_t at,
			       enum separator kind)
{
	if (kind != SEPARATOR_PLAIN)
		disagree(loader, at, line_end(loader, at),
			 "kubectl rejects the file here: only a comment may "
			 "follow ---");
}

/*
 * Finds the next "..." or "---" of YAML after `at`. Text that kubectl drops is
 * cut there first; else each of its documents would cost as much as the rest.
 */
static uint32_t find_mark(const struct loader *loader, uint32_t at)
{
	const char *text = loader->source->text;
	const char *end = text + loader->source->len;
	const char *p = text + at;
	size_t n;

	while (p < end) {
		n = yaml_break(p, end);
		p += n ? n : 1;
		if (!n || end - p < 3 ||
		    (memcmp(p, "---", 3) && memcmp(p, "...", 3)))
			continue;
		if (end - p == 3 || is_space(p[3]) ||
		    (*p == '-' && p[-1] == '\n') || yaml_break(p + 3, end))
			break;
	}
	return (uint32_t)(p - text);
}

/* True if the separator at line ends a chunk; otherwise it is dropped. */
static bool ends_chunk(struct loader *loader, uint32_t *start, uint32_t line)
{
	enum separator kind = classify(loader, line);
	uint32_t behind = line_end(loader, line);

	if (line > *start && !only_directives(loader, *start, line)) {
		if (kind != SEPARATOR_VALUE) {
			disagree_separator(loader, line, kind);
			loader->next = behind;
		}
		return true;
	}
	disagree_separator(loader, line, kind);
	if (line > *start)
		disagree(loader, *start, line,
			 "kubectl rejects %YAML and %TAG lines");
	else if (kind == SEPARATOR_TIGHT)
		*start = behind;
	return false;
}

/*
 * Finds the next chunk, and sets loader->next after it. A separator belongs to
 * the chunk only if nothing precedes it.
 */
static void next_chunk(struct loader *loader, uint32_t *start, uint32_t *end)
{
	const char *text = loader->source->text;
	uint32_t len = (uint32_t)loader->source->len;
	uint32_t at = loader->next;
	bool dropped = !starts_line(loader, at);

	*start = at;
	for (;;) {
		uint32_t line = dropped ? find_mark(loader, at)
					: find_separator(loader, at);

		loader->next = *end = line;
		if (line == len)
			return;
		if (text[line] == '.' || !starts_line(loader, line)) {
			loader->next = *end += text[line] == '.' ? 3 : 0;
			return;
		}
		if (ends_chunk(loader, start, line))
			return;
		at = line_end(loader, line);
	}
}

/* --- documents ------------------------------------------------------------ */

static int give_document(struct loader *loader, struct doc *doc,
			 const struct yaml_first *part)
{
	*doc = (struct doc){
		.source = loader->source,
		.number = ++loader->number,
		.start = part->start,
		.end = part->end,
		.json = loader->json,
		.root = part->root,
	};
	return 1;
}

/* Reports text after a chunk's first document, which kubectl does not read. */
static void check_rest(struct loader *loader, const struct yaml_first *part)
{
	const char *text = loader->source->text;
	uint32_t rest = find_content(loader, part->used, part->end);
	bool dots = part->used >= 3 && !memcmp(text + part->used - 3, "...", 3);
	bool marked = dots || is_document_start(text, part->used, part->end);

	if (rest == part->end)
		return;
	/* kubectl reads the next chunk without these directives. */
	if (marked &&
	    only_directives(loader, line_end(loader, part->used), part->end))
		return;
	if (marked)
		loader->next = part->used;
	disagree(loader, rest, part->end,
		 "kubectl drops the text from here to the next ---");
}

static int next_yaml(struct loader *loader, struct doc *doc)
{
	while (loader->next < loader->source->len) {
		struct yaml_first part = {0};
		bool good;

		next_chunk(loader, &part.start, &part.end);
		if (find_content(loader, part.start, part.end) == part.end)
			continue;
		if (loader->number >= loader->limits->documents)
			return refuse_rest(loader, "documents",
					   loader->limits->documents);
		good = yaml_read_first(loader, &part);
		if (good)
			check_rest(loader, &part);
		/* kubectl skips null, to which a mere comment evaluates. */
		if (!good || (part.root && part.root->type != NODE_NULL))
			return give_document(loader, doc, &part);
	}
	loader->done = true;
	return 0;
}

/*
 * Switches from JSON to YAML: skips white space up to the first line break.
 * kubectl rejects the file if fewer than 4 bytes, or U+FFFD, follow there.
 */
static void start_yaml(struct loader *loader)
{
	const struct source *source = loader->source;
	uint32_t at = loader->next, n = 1;

	while (n && (at == loader->next || source->text[at - 1] != '\n')) {
		if (source->len - at < 4 ||
		    !memcmp(source->text + at, "\xef\xbf\xbd", 3)) {
			disagree(loader, at, at + (at < source->len),
				 "kubectl rejects the file here: too little "
				 "text, or U+FFFD, after JSON");
			break;
		}
		n = space_length(loader, at);
		at += n;
	}
	loader->next = loader->yaml = at;
	loader->json = false;
}

/* Reads a value at `at` that begins with '{' but is not JSON as YAML. */
static int next_no_json(struct loader *loader, struct doc *doc, uint32_t at,
			const struct hold *json)
{
	const char *text = loader->source->text;
	uint32_t inside = skip_space(loader, at + 1);
	struct hold yaml;
	int more;

	hold_start(&yaml, loader);
	start_yaml(loader);
	more = next_yaml(loader, doc);
	hold_stop(&yaml, loader);
	if (!doc->root && inside < loader->source->len && text[inside] == '"') {
		hold_report(json, loader);
		return more;
	}
	if (doc->root)
		disagree(loader, at, at + 1,
			 "begins as JSON, but only YAML can read it: older "
			 "kubectl rejects the file");
	hold_report(&yaml, loader);
	return more;
}

/* Reads text after JSON values; kubectl reads YAML only after a single one. */
static int leave_json(struct loader *loader, struct doc *doc, uint32_t at)
{
	if (loader->number > 1)
		disagree(loader, at, at + 1,
			 "kubectl rejects the file here: after two JSON "
			 "values only JSON may follow");
	start_yaml(loader);
	return next_yaml(loader, doc);
}

static uint32_t skip_json_space(const struct loader *loader, uint32_t at)
{
	const struct source *source = loader->source;

	while (at < source->len && source->text[at] &&
	       strchr(" \t\r\n", source->text[at]))
		at++;
	return at;
}

/* Reads a JSON value, which must be a map if it is the first. */
static int next_json(struct loader *loader, struct doc *doc)
{
	uint32_t len = (uint32_t)loader->source->len;
	uint32_t at = skip_json_space(loader, loader->next);
	struct yaml_first part = {.start = at};
	struct hold hold;
	bool object;

	if (at == len) {
		loader->done = true;
		return 0;
	}
	if (loader->number >= loader->limits->documents)
		return refuse_rest(loader, "documents",
				   loader->limits->documents);
	object = loader->source->text[at] == '{';
	hold_start(&hold, loader);
	loader->too_large = loader->not_utf8 = false;
	part.root = json_read(loader, at, len, &part.end);
	hold_stop(&hold, loader);
	if (!part.root && !object && !loader->too_large && !loader->not_utf8)
		return leave_json(loader, doc, at);
	if (!part.root && object && !loader->too_large && loader->number <= 1)
		return next_no_json(loader, doc, at, &hold);
	hold_report(&hold, loader);
	part.end += part.end == at; /* rejected at its first byte */
	loader->next = part.end;
	loader->done = !part.root;
	return give_document(loader, doc, &part);
}

int loader_next(struct loader *loader, struct doc *doc)
{
	*doc = (struct doc){.source = loader->source};
	if (loader->done)
		return 0;
	if (loader->source->len > loader->limits->bytes)
		return refuse_rest(loader, "bytes", loader->limits->bytes);
	while (loader->json) {
		int more = next_json(loader, doc);

		/* Skip a null, which is counted as a document. */
		if (!more || !doc->json || !doc->root ||
		    doc->root->type != NODE_NULL)
			return more;
	}
	return next_yaml(loader, doc);
}
