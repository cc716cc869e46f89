/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses flow maps and lists ([ ] and { }) in the fast YAML parser, also across
 * several lines unless a scalar continues on the next line. Every member of a
 * map must have an explicit key and value.
 */
#include <string.h>

#include "doc/build.h"
#include "yaml_block.h"

/*
 * Skips blanks, line ends and comments. Returns NULL at a dash or dot at the
 * start of a line, which might end the document.
 */
static const char *skip_space(const struct fast *fast, const char *p)
{
	for (;;) {
		p = fast_blanks(p);
		if (*p == '#' && (p[-1] == ' ' || p[-1] == '\n'))
			p = fast_line_end(fast, p);
		if (*p != '\n')
			return p;
		if (++p == fast->end || *p == '-' || *p == '.')
			return NULL;
	}
}

/* Charges the work that libyaml needs for the open brackets in one event. */
static bool spend(struct fast *fast, unsigned depth)
{
	if (fast->work_left < depth)
		return false;
	fast->work_left -= depth;
	return true;
}

static const char *read_value(struct fast *fast, const char *p,
			      struct node *node, unsigned depth)
{
	struct fast_text text;

	if (!p || !node || !spend(fast, depth))
		return NULL;
	if (fast_starts[(unsigned char)*p] == START_FLOW)
		return fast_flow(fast, p, node, depth);
	if (!fast_scan(fast, p, true, &text) || !fast_fill(fast, node, &text))
		return NULL;
	return text.end;
}

static const char *read_item(struct fast *fast, const char *p, struct node *seq,
			     unsigned depth)
{
	struct node *node = fast_item(fast, seq, fast_offset(fast, p));

	return read_value(fast, p, node, depth);
}

static const char *read_member(struct fast *fast, const char *p,
			       struct node *map, uint64_t *seen, unsigned depth)
{
	struct fast_text text;
	struct fast_key key;

	if (!spend(fast, depth) || !fast_scan(fast, p, true, &text) ||
	    *text.stop != ':' || !fast_take_key(fast, map, seen, &text, &key))
		return NULL;
	return read_value(fast, skip_space(fast, text.stop + 1),
			  fast_member(fast, map, &key), depth);
}

const char *fast_flow(struct fast *fast, const char *p, struct node *node,
		      unsigned depth)
{
	bool map = *p == '{';
	char close = map ? '}' : ']';
	uint64_t seen = 0;

	if (depth >= FAST_DEPTH || depth >= fast->limits->depth)
		return NULL;
	depth++;
	node->type = map ? NODE_MAP : NODE_SEQ;
	node->flags = NODE_FLOW;
	node->start = fast_offset(fast, p);
	p = skip_space(fast, p + 1);
	while (p && (*p != close || node->len)) {
		p = map ? read_member(fast, p, node, &seen, depth)
			: read_item(fast, p, node, depth);
		p = p ? skip_space(fast, p) : NULL;
		if (!p || *p == close)
			break;
		p = *p == ',' ? skip_space(fast, p + 1) : NULL;
	}
	if (!p || !spend(fast, depth))
		return NULL;
	node->end = fast->last_end = fast_offset(fast, p + 1);
	return p + 1;
}
