/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans the author's bytes: lines, indentation, text between two values. Spans
 * of nodes come from the parser; only text between them is scanned here, so
 * quotes need no second parser.
 */
#include <string.h>

#include "splice_internal.h"

static uint32_t line_begin(const struct splicer *splicer, uint32_t at)
{
	const char *lf = memrchr(splicer->text, '\n', at);

	return lf ? (uint32_t)(lf + 1 - splicer->text) : 0;
}

uint32_t line_stop(const struct splicer *splicer, uint32_t at)
{
	const char *lf = memchr(splicer->text + at, '\n', splicer->len - at);
	uint32_t stop = lf ? (uint32_t)(lf - splicer->text) : splicer->len;

	return lf && stop > at && lf[-1] == '\r' ? stop - 1 : stop;
}

bool line_before(const struct splicer *splicer, uint32_t at, uint32_t *stop)
{
	uint32_t begin = line_begin(splicer, at);

	if (!begin)
		return false;
	*stop = begin - 1;
	if (*stop && splicer->text[*stop - 1] == '\r')
		--*stop;
	return true;
}

const char *newline_at(const struct splicer *splicer, uint32_t at)
{
	const char *lf = memchr(splicer->text + at, '\n', splicer->len - at);

	if (!lf)
		lf = memrchr(splicer->text, '\n', at);
	return lf && lf > splicer->text && lf[-1] == '\r' ? "\r\n" : "\n";
}

int column(const struct splicer *splicer, uint32_t at)
{
	uint32_t begin = line_begin(splicer, at);

	for (uint32_t i = begin; i < at; i++)
		if (splicer->text[i] != ' ' && splicer->text[i] != '-')
			return -1;
	return (int)(at - begin);
}

bool begins_line(const struct splicer *splicer, uint32_t at)
{
	for (uint32_t i = line_begin(splicer, at); i < at; i++)
		if (splicer->text[i] != ' ' && splicer->text[i] != '\t')
			return false;
	return true;
}

/* False if the comment contains a character that ends a comment in YAML 1.1 but
 * does not end a line for this code. */
static bool plain_comment(const struct splicer *splicer, uint32_t from,
			  uint32_t stop)
{
	const char *p = splicer->text + from;
	size_t len = stop - from;

	return !memchr(p, '\r', len) && !memmem(p, len, "\xc2\x85", 2) &&
	       !memmem(p, len, "\xe2\x80\xa8", 3) &&
	       !memmem(p, len, "\xe2\x80\xa9", 3);
}

bool ends_line(const struct splicer *splicer, uint32_t at)
{
	uint32_t stop = line_stop(splicer, at);
	uint32_t i = at;

	while (i < stop &&
	       (splicer->text[i] == ' ' || splicer->text[i] == '\t'))
		i++;
	if (i == stop)
		return true;
	return splicer->text[i] == '#' && i > at &&
	       plain_comment(splicer, i, stop);
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool only_space(const struct splicer *splicer, uint32_t from, uint32_t to,
		char mark)
{
	for (uint32_t i = from; i < to; i++) {
		char c = splicer->text[i];

		if (is_space(c))
			continue;
		if (c == '#') {
			uint32_t stop = line_stop(splicer, i);

			if (stop >= to || !plain_comment(splicer, i, stop))
				return false;
			i = stop;
		} else if (c == mark && mark) {
			mark = '\0';
		} else {
			return false;
		}
	}
	return from <= to;
}

bool has_comment(const struct splicer *splicer, uint32_t from, uint32_t to)
{
	return from < to && memchr(splicer->text + from, '#', to - from);
}

bool has_break(const struct splicer *splicer, uint32_t from, uint32_t to)
{
	return from < to && memchr(splicer->text + from, '\n', to - from);
}

uint32_t behind_colon(const struct splicer *splicer, const struct node *node)
{
	uint32_t i = node->key_end;

	if (!node->key || node->key_start >= node->key_end)
		return 0;
	while (i < splicer->len &&
	       (splicer->text[i] == ' ' || splicer->text[i] == '\t'))
		i++;
	if (i >= splicer->len || splicer->text[i] != ':')
		return 0;
	return i + 1;
}

uint32_t alias_end(const struct splicer *splicer, const struct node *node)
{
	uint32_t i = behind_colon(splicer, node);

	while (i && i < splicer->len && splicer->text[i] == ' ')
		i++;
	if (!i || i >= splicer->len || splicer->text[i] != '*')
		return 0;
	while (i < splicer->len && !strchr(" \t\r\n,]}", splicer->text[i]))
		i++;
	return i;
}

uint32_t dash_of(const struct splicer *splicer, const struct node *item)
{
	uint32_t i = item->start;

	while (i && splicer->text[i - 1] == ' ')
		i--;
	if (!i || splicer->text[i - 1] != '-')
		return UINT32_MAX;
	return i - 1;
}

const char *indent_of(const struct splicer *splicer, uint32_t at)
{
	uint32_t begin = line_begin(splicer, at);
	uint32_t i = begin;

	while (i < at && (splicer->text[i] == ' ' || splicer->text[i] == '\t'))
		i++;
	return arena_strndup(splicer->arena, splicer->text + begin, i - begin);
}

/* --- comments below ------------------------------------------------------ */

/* A line below a map or list; at is its first byte that is not a blank. */
struct below {
	uint32_t at, stop;
	unsigned col;
};

static bool next_line(const struct splicer *splicer, uint32_t from,
		      struct below *line)
{
	const char *lf =
		memchr(splicer->text + from, '\n', splicer->len - from);
	uint32_t begin;

	if (!lf)
		return false;
	begin = (uint32_t)(lf + 1 - splicer->text);
	line->stop = line_stop(splicer, begin);
	line->at = begin;
	while (line->at < line->stop && splicer->text[line->at] == ' ')
		line->at++;
	line->col = line->at - begin;
	return true;
}

static bool own_block(const struct node *node, enum node_type type)
{
	return node && node->type == type && node->first &&
	       !(node->flags & (NODE_FLOW | NODE_ALIASED | NODE_MERGED));
}

/* Returns the column of the list that ends the map; -1 if the map ends in
 * something else. */
static int list_below(const struct splicer *splicer, const struct node *map)
{
	bool ends = map->type == NODE_MAP && own_block(map->last, NODE_SEQ);

	return ends ? column(splicer, map->last->start) : -1;
}

/*
 * True if the comment is part of the list before it. `# - name: a` in the
 * column of the map's keys can only be an item of that list, and so can the
 * following lines that are indented further than its dash.
 */
static bool is_item(const struct splicer *splicer, const struct below *line,
		    int list, unsigned *dash)
{
	uint32_t i = line->at;
	unsigned col;

	while (i < line->stop && splicer->text[i] == '#')
		i++;
	while (i < line->stop && splicer->text[i] == ' ')
		i++;
	col = line->col + (i - line->at);
	if (i == line->stop || list < 0)
		return false;
	if (*dash && col >= *dash + 2)
		return true;
	if (splicer->text[i] != '-' || i + 1 == line->stop ||
	    splicer->text[i + 1] != ' ')
		return false;
	*dash = col;
	return line->col == (unsigned)list || col == (unsigned)list;
}

uint32_t below_comments(const struct splicer *splicer, const struct node *node,
			unsigned col)
{
	int list = list_below(splicer, node);
	uint32_t end = line_stop(splicer, node->end);
	struct below line = {.stop = end};
	unsigned dash = 0;

	while (next_line(splicer, line.stop, &line)) {
		if (line.at == line.stop)
			continue;
		if (splicer->text[line.at] != '#' ||
		    !plain_comment(splicer, line.at, line.stop))
			break;
		if (line.col < col ||
		    (line.col == col && !is_item(splicer, &line, list, &dash)))
			break;
		end = line.stop;
	}
	return end;
}

/* --- style --------------------------------------------------------------- */

/* Returns by how many columns a value is indented further than its map, or -1
 * if unknown. */
static int deeper(const struct splicer *splicer, const struct node *map,
		  const struct node *node)
{
	int outer = column(splicer, map->start);
	int inner = column(splicer, node->start);

	if (outer < 0 || inner < outer || !begins_line(splicer, node->start))
		return -1;
	return inner - outer;
}

/* Returns the indentation of the first child of that type whose indentation is
 * at least `least`, or -1. */
static int first_deeper(const struct splicer *splicer, const struct node *map,
			enum node_type type, int least)
{
	FOR_EACH_CHILD(map, child) {
		int n = own_block(child, type) ? deeper(splicer, map, child)
					       : -1;

		if (n >= least)
			return n;
	}
	return -1;
}

/* Returns the number of blanks after the first dash with a value, or -1. */
static int first_gap(const struct splicer *splicer, const struct node *seq)
{
	FOR_EACH_CHILD(seq, item) {
		uint32_t dash;

		if (item->flags & (NODE_ALIASED | NODE_IMPLICIT))
			continue;
		dash = dash_of(splicer, item);
		if (dash != UINT32_MAX && item->start - dash >= 2)
			return (int)(item->start - dash - 1);
	}
	return -1;
}

enum {
	LOOK_MAX = 1000, /* larger maps are not examined for their style */
};

void learn_style(const struct splicer *splicer, const struct node *node,
		 struct style *style)
{
	int step = -1, offset = -1, gap = -1;

	for (; node; node = node->parent) {
		if (node->len > LOOK_MAX)
			continue;
		if (own_block(node, NODE_MAP)) {
			if (step < 0)
				step = first_deeper(splicer, node, NODE_MAP, 1);
			if (offset < 0)
				offset = first_deeper(splicer, node, NODE_SEQ,
						      0);
		} else if (own_block(node, NODE_SEQ) && gap < 0) {
			gap = first_gap(splicer, node);
		}
	}
	*style = (struct style){
		.nl = "\n",
		.step = step < 0 ? 2 : (unsigned)step,
		.offset = offset < 0 ? 2 : (unsigned)offset,
		.gap = gap < 0 ? 1 : (unsigned)gap,
		.unit = "  ",
	};
}
