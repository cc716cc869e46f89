/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes excerpts. A line is divided into cells, beginning at its first byte,
 * or, if a mark is far inside of a very long line, at a byte shortly before the
 * mark. The cells [low, high) are shown; if the line is longer, one cell
 * contains an ellipsis. Every loop over bytes ends with these cells.
 */
#include "excerpt.h"

#include <stdlib.h>
#include <string.h>

enum {
	TAB = 8,
	WIDTH_UNKNOWN = 120, /* cells if the width of the terminal is unknown */
	WIDTH_LEAST = 40,    /* least number of cells of text, for any width */
	FAR = 1024,	     /* bytes before a mark that are read at most */
	/* bytes before a mark that are used if there are more */
	NEAR = 512,
};

/* A line of the source and its visible part. */
struct view {
	const char *s; /* begins at the base byte */
	size_t len;
	uint32_t offset;    /* offset of s in the source */
	unsigned low, high; /* cells that are shown */
	bool cut_left;
};

unsigned decimal_digits(uint32_t n)
{
	unsigned digits = 1;

	while (n >= 10) {
		n /= 10;
		digits++;
	}
	return digits;
}

static int compare_marks(const void *left, const void *right)
{
	const struct mark *a = left, *b = right;

	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	if (a->primary != b->primary)
		return a->primary ? -1 : 1;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return strcmp(a->text, b->text);
}

/* Reads the next code point. Returns its number of cells, which for a tab
 * depends on the current cell. */
static unsigned cell_step(struct escape *escape, const char *s, size_t len,
			  unsigned cell)
{
	escape_read(escape, s, len);
	return *s == '\t' ? TAB - cell % TAB : escape->width;
}

/* Returns the cell at which byte `at` of the view begins, at most `limit`. */
static unsigned cell_of(const struct view *view, size_t at, unsigned limit)
{
	struct escape escape;
	unsigned cell = 0;
	size_t i = 0;

	while (i < at && i < view->len && cell < limit) {
		cell += cell_step(&escape, view->s + i, view->len - i, cell);
		i += escape.used;
	}
	return cell < limit ? cell : limit;
}

/* Sets [*start, *end) to the bytes of a mark in the view. */
static void mark_bytes(const struct view *view, const struct mark *mark,
		       size_t *start, size_t *end)
{
	size_t last = view->offset + view->len;

	*start = mark->start > last ? last : mark->start;
	*end = mark->end > last ? last : mark->end;
	if (*end < *start)
		*end = *start;
	*start = *start > view->offset ? *start - view->offset : 0;
	*end = *end > view->offset ? *end - view->offset : 0;
}

/* Moves the base shortly before a mark that is far inside of a long line. */
static void rebase(struct view *view, const struct mark *mark)
{
	size_t start, end;

	mark_bytes(view, mark, &start, &end);
	if (start <= FAR)
		return;
	start -= NEAR;
	while (start < view->len && ((unsigned char)view->s[start] >> 6) == 2)
		start++;
	view->s += start;
	view->len -= start;
	view->offset += (uint32_t)start;
	view->cut_left = true;
}

/* Selects the visible cells so that the mark is among them. */
static void place_window(struct view *view, const struct mark *mark,
			 unsigned width)
{
	unsigned cell, end_cell;
	size_t start, end;

	view->low = 0;
	view->high = width;
	if (!view->cut_left && cell_of(view, view->len, width + 1) <= width)
		return;
	mark_bytes(view, mark, &start, &end);
	cell = cell_of(view, start, FAR * TAB);
	end_cell = cell_of(view, end, cell + width);
	if (view->cut_left || end_cell >= width) {
		/* Show a third of the window before the mark. */
		view->low = cell > width / 3 ? cell - width / 3 : 0;
		view->cut_left = view->cut_left || view->low > 0;
	}
	view->high = view->low + width - 1 - view->cut_left;
}

/* Selects the visible part of the line. */
static void fit(struct view *view, const struct mark *mark, unsigned width,
		unsigned margin)
{
	if (!width)
		width = WIDTH_UNKNOWN;
	width = width > margin + WIDTH_LEAST ? width - margin : WIDTH_LEAST;
	rebase(view, mark);
	place_window(view, mark, width);
}

static struct view view_of(const struct excerpt *excerpt,
			   const struct mark *mark)
{
	struct view view = {0};

	view.s = source_line(excerpt->source, mark->line, &view.len);
	view.offset = view.s >= excerpt->source->text && view.len
			      ? (uint32_t)(view.s - excerpt->source->text)
			      : mark->start;
	fit(&view, mark, excerpt->width, excerpt->gutter + 3);
	return view;
}

static void add_spaces(struct buf *out, unsigned n)
{
	while (n--)
		buf_addc(out, ' ');
}

/* Adds the gutter: a line number or blanks, and the bar. */
static void add_gutter(const struct excerpt *excerpt, struct buf *out,
		       uint32_t line)
{
	paint_begin(out, excerpt->color, COLOR_GUTTER);
	if (line)
		buf_addf(out, "%*u |", (int)excerpt->gutter, line);
	else
		buf_addf(out, "%*s |", (int)excerpt->gutter, "");
	paint_end(out, excerpt->color);
}

/* Adds the part of a character at cells [cell, next) that is visible: the
 * character if it is complete, else blanks. */
static void add_cells(struct buf *out, const struct view *view,
		      const struct escape *escape, unsigned cell, unsigned next)
{
	/* A combining mark is omitted together with its character. */
	bool whole = cell + escape->width > view->low && cell >= view->low &&
		     next <= view->high;
	unsigned from = cell > view->low ? cell : view->low;
	unsigned to = next < view->high ? next : view->high;

	if (whole && next - cell == escape->width && *escape->text != ' ')
		buf_add(out, escape->text, escape->len);
	else if (to > from)
		add_spaces(out, to - from);
}

static void add_view(const struct view *view, struct buf *out)
{
	struct escape escape;
	unsigned cell = 0;
	size_t i = 0;

	if (view->cut_left)
		buf_adds(out, "…");
	while (i < view->len) {
		unsigned step =
			cell_step(&escape, view->s + i, view->len - i, cell);

		if (cell + step > view->high)
			break;
		add_cells(out, view, &escape, cell, cell + step);
		cell += step;
		i += escape.used;
	}
	if (i < view->len) {
		add_spaces(out, view->high - cell);
		buf_adds(out, "…");
	}
	buf_addc(out, '\n');
}

static void add_line(const struct excerpt *excerpt, const struct view *view,
		     struct buf *out, uint32_t line)
{
	add_gutter(excerpt, out, line);
	if (view->len)
		buf_addc(out, ' ');
	add_view(view, out);
}

void excerpt_add_text(const struct excerpt_text *text, struct buf *out)
{
	struct view view = {.s = text->s, .len = text->len};
	struct mark mark = {.start = text->at, .end = text->at + 1};

	fit(&view, &mark, text->width, text->margin);
	add_view(&view, out);
}

static void add_underline(const struct excerpt *excerpt,
			  const struct view *view, const struct mark *mark,
			  struct buf *out)
{
	size_t start, end;
	unsigned cell, last;

	mark_bytes(view, mark, &start, &end);
	cell = cell_of(view, start, view->high);
	last = cell_of(view, end, view->high);
	if (cell < view->low)
		cell = view->low;
	if (last <= cell)
		last = cell + 1;
	add_gutter(excerpt, out, 0);
	add_spaces(out, 1 + cell - view->low + view->cut_left);
	paint_begin(out, excerpt->color,
		    mark->primary ? severity_color(excerpt->severity)
				  : COLOR_LABEL);
	for (; cell < last; cell++)
		buf_addc(out, mark->primary ? '^' : '-');
	if (*mark->text) {
		buf_addc(out, ' ');
		escape_adds(out, mark->text);
	}
	paint_end(out, excerpt->color);
	buf_addc(out, '\n');
}

/* Adds the lines between two marks: "..." for several lines, the line itself if
 * there is only one. */
static void add_gap(const struct excerpt *excerpt, struct buf *out,
		    uint32_t from, uint32_t to)
{
	struct mark middle = {.line = from + 1, .text = ""};
	struct view view;

	if (to <= from + 1)
		return;
	if (to > from + 2) {
		buf_adds(out, "...\n");
		return;
	}
	view = view_of(excerpt, &middle);
	add_line(excerpt, &view, out, middle.line);
}

void excerpt_add(struct excerpt *excerpt, struct buf *out)
{
	struct view view = {0};

	qsort(excerpt->marks, excerpt->n, sizeof(*excerpt->marks),
	      compare_marks);
	for (size_t i = 0; i < excerpt->n; i++) {
		const struct mark *mark = &excerpt->marks[i];
		uint32_t before = i ? mark[-1].line : 0;

		if (!i || mark->line != before) {
			if (i)
				add_gap(excerpt, out, before, mark->line);
			view = view_of(excerpt, mark);
			add_line(excerpt, &view, out, mark->line);
		}
		add_underline(excerpt, &view, mark, out);
	}
}
