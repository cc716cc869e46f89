/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fast YAML parser: lines, indentation, block maps and lists. Open maps and
 * lists are a stack of frames with growing columns (a list may have the column
 * of the map it is in). A line closes the frames with a larger column than its
 * own; it is then the next member or item of the innermost frame, or its
 * pending value. Anything else, such as a plain scalar on several lines, is
 * left to libyaml.
 */
#include "yaml_block.h"

#include <string.h>

#include "base/block.h"
#include "base/text.h"
#include "doc/build.h"
#include "doc/load.h"

/*
 * Anchors of scalars and their aliases: `&a x`, `*a`, each with its value on
 * one line. All other uses (on maps and keys, merges, too many aliases) are
 * left to libyaml and yaml_merge.c.
 */

static bool is_name(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
	       (c >= 'a' && c <= 'z') || c == '_' || c == '-';
}

/* Returns the position after the anchor name at p. */
static const char *fast_name_end(const char *p)
{
	while (is_name(*p))
		p++;
	return p;
}

static struct fast_anchor *find_anchor(struct fast *fast, const char *name,
				       size_t len)
{
	for (unsigned i = 0; i < fast->nanchors; i++)
		if (fast->anchors[i].len == len &&
		    !memcmp(fast->anchors[i].name, name, len))
			return &fast->anchors[i];
	return NULL;
}

/* Stores the node, a scalar, as the value of this anchor. Returns false if
 * there are too many anchors (FAST_ANCHORS). */
static bool fast_set_anchor(struct fast *fast, const char *name, size_t len,
			    struct node *node)
{
	struct fast_anchor *anchor = find_anchor(fast, name, len);

	if (!len || (!anchor && fast->nanchors == FAST_ANCHORS))
		return false;
	if (!anchor)
		anchor = &fast->anchors[fast->nanchors++];
	*anchor = (struct fast_anchor){name, len, node};
	node->flags |= NODE_ANCHORED;
	return true;
}

/* Returns the value to which an alias refers, and counts the alias. Returns
 * NULL if there is no such anchor or a limit is reached. */
static const struct node *fast_aliased(struct fast *fast, const char *name,
				       size_t len)
{
	const struct fast_anchor *anchor = find_anchor(fast, name, len);

	/* A copy counts as a value, too. */
	if (!anchor || fast->aliases_left == 0 || fast->nodes_left < 2)
		return NULL;
	fast->aliases_left--;
	fast->nodes_left--;
	return anchor->node;
}

/* --- nodes ---------------------------------------------------------------- */

enum {
	NODE_BATCH = 16,
};

static struct node *take_node(struct fast *fast)
{
	if (!fast->nodes_left)
		return NULL;
	fast->nodes_left--;
	if (!fast->nodes_ready) {
		fast->nodes = arena_alloc(fast->arena,
					  NODE_BATCH * sizeof(*fast->nodes));
		fast->nodes_ready = NODE_BATCH;
	}
	fast->nodes_ready--;
	return fast->nodes++;
}

struct node *fast_member(struct fast *fast, struct node *parent,
			 const struct fast_key *key)
{
	struct node *node = take_node(fast);

	if (!node)
		return NULL;
	node_clear(node);
	node->key_start = key->start;
	node->key_end = key->end;
	node->key = key->text;
	node->key_len = key->len;
	node_append(parent, node);
	return node;
}

struct node *fast_item(struct fast *fast, struct node *parent, uint32_t at)
{
	struct node *node = take_node(fast);

	if (!node)
		return NULL;
	node_clear(node);
	node->key_start = node->key_end = at;
	node_append(parent, node);
	return node;
}

/* Returns a node for the next value. Returns NULL if the limit is reached, or
 * if no value is expected here. */
static struct node *place(struct fast *fast, uint32_t at)
{
	struct fast_frame *frame;
	struct node *node;

	if (!fast->depth) {
		node = fast->root ? NULL : take_node(fast);
		if (node)
			node_clear(node);
		return fast->root = node;
	}
	frame = &fast->frames[fast->depth - 1];
	if (!frame->pending)
		return NULL;
	frame->pending = false;
	return frame->node->type == NODE_MAP
		       ? fast_member(fast, frame->node, &frame->key)
		       : fast_item(fast, frame->node, at);
}

/* --- frames --------------------------------------------------------------- */

static struct fast_frame *top(struct fast *fast)
{
	return &fast->frames[fast->depth - 1];
}

static bool open_frame(struct fast *fast, enum node_type type, uint32_t column,
		       uint32_t at)
{
	struct fast_frame *frame = &fast->frames[fast->depth];
	struct node *node;

	if (fast->depth >= FAST_DEPTH || fast->depth >= fast->limits->depth)
		return false;
	node = place(fast, at);
	if (!node)
		return false;
	node->type = (uint8_t)type;
	node->start = at;
	frame->node = node;
	frame->column = column;
	frame->pending = frame->indentless = false;
	frame->seen = 0;
	fast->depth++;
	return true;
}

/* Gives the pending member of the innermost frame an empty value. */
static bool put_nothing(struct fast *fast)
{
	uint32_t mark = top(fast)->mark;
	struct node *node = place(fast, mark);

	if (!node)
		return false;
	node->type = NODE_NULL;
	node->flags = NODE_IMPLICIT;
	node->str = "null";
	node->len = 4;
	node->start = node->end = fast->last_end = mark;
	return true;
}

static bool close_frame(struct fast *fast)
{
	struct fast_frame *frame = top(fast);

	if (frame->pending && !put_nothing(fast))
		return false;
	frame->node->end = fast->last_end;
	fast->depth--;
	return true;
}

/* Handles a line that begins in the innermost frame's column. */
static bool settle_level(struct fast *fast, bool dash, uint32_t at)
{
	struct fast_frame *frame = top(fast);

	if (dash && frame->node->type == NODE_MAP) {
		uint32_t column = frame->column;

		if (!frame->pending || !open_frame(fast, NODE_SEQ, column, at))
			return false;
		top(fast)->indentless = true;
		return true;
	}
	if (!dash && frame->node->type == NODE_SEQ) {
		/* The list is in the column of the map that contains it, so the
		 * line continues the map. */
		return frame->indentless && close_frame(fast);
	}
	return !frame->pending || put_nothing(fast);
}

/* --- lines ---------------------------------------------------------------- */

static bool is_dash(const char *p)
{
	return *p == '-' && (p[1] == ' ' || p[1] == '\n');
}

/* Returns the next line if nothing or only a comment is left on this one, else
 * NULL. */
static const char *end_line(const struct fast *fast, const char *p)
{
	if (*p == '\n')
		return p + 1;
	if (*p == '#' && p[-1] == ' ')
		return fast_line_end(fast, p) + 1;
	return NULL;
}

static const char *put_text(struct fast *fast, const struct fast_text *text)
{
	struct node *node = place(fast, fast_offset(fast, text->start));

	if (!fast->depth || !node || !fast_fill(fast, node, text))
		return NULL;
	return text->flags & NODE_BLOCK ? text->stop
					: end_line(fast, text->stop);
}

static const char *read_flow(struct fast *fast, const char *p)
{
	struct node *node = place(fast, fast_offset(fast, p));

	if (!node)
		return NULL;
	p = fast_flow(fast, p, node, fast->depth);
	return p ? end_line(fast, fast_blanks(p)) : NULL;
}

/* Reads `&name` and the scalar after it. */
static const char *read_anchored(struct fast *fast, const char *p)
{
	const char *name = p + 1, *end = fast_name_end(name);
	struct fast_text text;
	struct node *node;

	if (!fast->depth || *end != ' ' ||
	    !fast_scan(fast, fast_blanks(end), false, &text))
		return NULL;
	node = place(fast, fast_offset(fast, text.start));
	if (!node || !fast_fill(fast, node, &text) ||
	    !fast_set_anchor(fast, name, (size_t)(end - name), node))
		return NULL;
	return end_line(fast, text.stop);
}

static const char *read_alias(struct fast *fast, const char *p)
{
	const char *name = p + 1, *end = fast_name_end(name);
	const struct node *target =
		fast_aliased(fast, name, (size_t)(end - name));
	struct node *node = fast->depth && target
				    ? place(fast, fast_offset(fast, p))
				    : NULL;

	if (!node)
		return NULL;
	node->type = target->type;
	node->flags =
		(uint8_t)((target->flags | NODE_ALIASED) & ~NODE_ANCHORED);
	node->str = target->str;
	node->len = target->len;
	node->start = target->start;
	node->end = target->end;
	fast->last_end = fast_offset(fast, end);
	return end_line(fast, fast_blanks(end));
}

/* Reads a value that begins with [ { | > & or * at p; sets *taken to false if
 * it begins with another character. */
static const char *read_special(struct fast *fast, const char *p, bool *taken)
{
	struct fast_text text;

	*taken = true;
	switch (fast_starts[(unsigned char)*p]) {
	case START_FLOW:
		return read_flow(fast, p);
	case START_BLOCK:
		if (!fast->depth ||
		    !fast_block(fast, p, top(fast)->column, &text))
			return NULL;
		return put_text(fast, &text);
	case START_ANCHOR:
		return read_anchored(fast, p);
	case START_ALIAS:
		return read_alias(fast, p);
	default:
		*taken = false;
		return p;
	}
}

/* Reads the value after a key of the innermost map, if it is on this line. */
static const char *read_member(struct fast *fast, const struct fast_text *key)
{
	struct fast_frame *frame = top(fast);
	struct fast_text text;
	const char *p = key->stop + 1;
	const char *next;
	bool taken;

	if (*key->stop != ':' || (*p != ' ' && *p != '\n') ||
	    !fast_take_key(fast, frame->node, &frame->seen, key, &frame->key))
		return NULL;
	frame->pending = true;
	frame->mark = fast_offset(fast, p);
	p = fast_blanks(p);
	if (*p == '\n' || *p == '#')
		return end_line(fast, p);
	next = read_special(fast, p, &taken);
	if (taken)
		return next;
	return fast_scan(fast, p, false, &text) ? put_text(fast, &text) : NULL;
}

/* Reads a value that may be a block map, after a dash or on a line without a
 * key. */
static const char *read_node(struct fast *fast, const char *line, const char *p)
{
	struct fast_text text;
	const char *next;
	bool taken;

	next = read_special(fast, p, &taken);
	if (taken)
		return next;
	if (!fast_scan(fast, p, false, &text))
		return NULL;
	if (*text.stop != ':')
		return put_text(fast, &text);
	if (!open_frame(fast, NODE_MAP, (uint32_t)(p - line),
			fast_offset(fast, p)))
		return NULL;
	return read_member(fast, &text);
}

/* Reads an item of the innermost list, which may begin further lists: "- -
 * a". */
static const char *read_item(struct fast *fast, const char *line, const char *p)
{
	for (;;) {
		struct fast_frame *frame = top(fast);

		p++;
		frame->pending = true;
		frame->mark = fast_offset(fast, p);
		p = fast_blanks(p);
		if (*p == '\n' || *p == '#')
			return end_line(fast, p);
		if (!is_dash(p))
			return read_node(fast, line, p);
		if (!open_frame(fast, NODE_SEQ, (uint32_t)(p - line),
				fast_offset(fast, p)))
			return NULL;
	}
}

/* Reads the line whose text begins at p in this column; returns the next
 * line. */
static const char *read_line(struct fast *fast, const char *line, const char *p)
{
	uint32_t column = (uint32_t)(p - line);
	bool dash = is_dash(p);
	struct fast_text text;

	/* The line may be --- or ... */
	if (!column && (*p == '.' || (*p == '-' && !dash)))
		return NULL;
	while (fast->depth && top(fast)->column > column)
		if (!close_frame(fast))
			return NULL;
	if (!fast->depth || top(fast)->column < column) {
		if (!dash)
			return read_node(fast, line, p);
		if (!open_frame(fast, NODE_SEQ, column, fast_offset(fast, p)))
			return NULL;
		return read_item(fast, line, p);
	}
	if (!settle_level(fast, dash, fast_offset(fast, p)))
		return NULL;
	if (dash)
		return read_item(fast, line, p);
	return fast_scan(fast, p, false, &text) ? read_member(fast, &text)
						: NULL;
}

/* Returns the next line that is not blank or a comment; NULL at the end. */
static const char *next_line(const struct fast *fast, const char *line,
			     const char **content)
{
	while (line < fast->end) {
		const char *p = fast_blanks(line);

		if (*p != '\n' && *p != '#') {
			*content = p;
			return line;
		}
		line = fast_line_end(fast, p) + 1;
	}
	return NULL;
}

static bool read_document(struct fast *fast)
{
	const char *p, *line = next_line(fast, fast->text, &p);

	if (line && p == line && fast->end - p > 3 && !memcmp(p, "---", 3)) {
		line = end_line(fast, fast_blanks(p + 3));
		if (!line || p[3] == '#')
			return false;
		line = next_line(fast, line, &p);
	}
	if (!line)
		return false;
	while (line) {
		line = read_line(fast, line, p);
		if (!line)
			return false;
		line = next_line(fast, line, &p);
	}
	while (fast->depth)
		if (!close_frame(fast))
			return false;
	return true;
}

/* --- bytes ---------------------------------------------------------------- */

static bool is_usual(char c)
{
	return (c >= ' ' && c < 0x7f) || c == '\n' || c == '\t';
}

/* Marks bytes other than printable ASCII, tabs and line ends. */
static struct block unusual(struct block block)
{
	struct block control = block_below(block, ' ');
	struct block blank =
		block_or(block_is(block, '\n'), block_is(block, '\t'));

	return block_or(block_without(control, blank), block_is(block, 0x7f));
}

/* Returns the length of a YAML character that is not a line break, or 0. */
static size_t check_character(const char *p, const char *end)
{
	size_t n = utf8_length(p, (size_t)(end - p));
	uint32_t code;

	if (n == 2)
		return (unsigned char)p[0] == 0xc2 && (unsigned char)p[1] < 0xa0
			       ? 0
			       : n;
	if (n != 3)
		return n == 4 ? n : 0;
	code = (uint32_t)(p[0] & 0xf) << 12 | (uint32_t)(p[1] & 0x3f) << 6 |
	       (uint32_t)(p[2] & 0x3f);
	return code == 0x2028 || code == 0x2029 || code >= 0xfffe ||
			       code == 0xfeff
		       ? 0
		       : n;
}

static bool check_slowly(const char *p, const char *end)
{
	while (p < end) {
		size_t n = 1;

		if (*p & 0x80)
			n = check_character(p, end);
		else if (!is_usual(*p))
			n = 0;
		if (!n)
			return false;
		p += n;
	}
	return true;
}

/* True if this parser can handle all characters of the text. */
static bool check_bytes(const char *text, const char *end)
{
	struct block seen = {{0}};
	const char *p;

	for (p = text; end - p >= 2 * BLOCK; p += 2 * BLOCK)
		seen = block_or(seen, block_or(unusual(block_read(p)),
					       unusual(block_read(p + BLOCK))));
	return check_slowly(block_any(seen) ? text : p, end);
}

/* Sets the text to parse; copies it and adds a line end if the last line has
 * none. */
static void set_text(struct fast *fast, const char *text, size_t len)
{
	char *copy;

	fast->text = text;
	fast->end = text + len;
	if (text[len - 1] == '\n')
		return;
	copy = arena_alloc(fast->arena, len + 1);
	memcpy(copy, text, len);
	copy[len] = '\n';
	fast->text = copy;
	fast->end = copy + len + 1;
}

bool yaml_fast_read(struct loader *loader, struct yaml_first *first)
{
	const char *text = loader->source->text + first->start;
	size_t len = first->end - first->start;
	struct fast fast;
	uint64_t flow_work;
	uint32_t nodes;
	bool good;

	if (!len || !check_bytes(text, text + len))
		return false;
	fast.arena = loader->arena;
	fast.limits = loader->limits;
	fast.start = first->start;
	fast.nodes_ready = 0;
	fast.nodes_left = nodes = cost_nodes(loader);
	fast.work_left = flow_work = cost_flow_work(loader);
	fast.root = NULL;
	fast.depth = 0;
	fast.nanchors = 0;
	fast.aliases_left = FAST_ALIASES;
	set_text(&fast, text, len);
	/* copy() in yaml_block_scalar.c may write 16 bytes past the end. */
	fast.strings = arena_alloc(fast.arena, len + 32);
	good = read_document(&fast);
	flow_work -= fast.work_left;
	/* Nodes are charged even if libyaml reads the text again. */
	cost_spend(loader, nodes - fast.nodes_left, flow_work);
	if (!good) {
		/* The reader of libyaml charges it to the loader again. */
		loader->flow_work -= flow_work;
		return false;
	}
	first->used = first->end;
	first->root = fast.root;
	return true;
}
