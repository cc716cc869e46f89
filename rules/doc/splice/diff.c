/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes unified diffs. Lines are compared by Myers' greedy algorithm (E. W.
 * Myers, An O(ND) difference algorithm, 1986), not over the whole text but from
 * each difference to the next run of equal lines, so that the work grows with
 * the length of the file and not with the square of its changes. If a
 * difference does not end within EDITS_MAX steps, all lines up to the common
 * end are replaced. The result is always a correct diff, not always the
 * shortest.
 */
#include "doc/splice.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"

enum {
	CONTEXT = 3,
	RUN = 8,	 /* number of equal lines that end a difference */
	EDITS_MAX = 200, /* lines removed and added by one search */
	DIAGONALS = 2 * EDITS_MAX + 3,
};

/* A line with its line end, which the last line may lack. */
struct diff_line {
	const char *text;
	size_t len;
	uint64_t hash;
};

struct side {
	const struct diff_text *text;
	struct diff_line *lines;
	size_t n, size;
};

/* Lines b..b+nb of the new text replace lines a..a+na of the old one. */
struct diff_change {
	size_t a, na, b, nb;
};

struct diff {
	struct arena arena;
	struct side old, new;
	struct diff_change *changes;
	size_t n, size;
	uint32_t *reach; /* [edits][diagonal]: the old line that was reached */
};

static void split(struct arena *arena, const struct diff_text *text,
		  struct side *side)
{
	const char *p = text->text, *end = p + text->len;

	side->text = text;
	while (p < end) {
		const char *lf = memchr(p, '\n', (size_t)(end - p));
		size_t len = (size_t)((lf ? lf + 1 : end) - p);
		struct diff_line *line =
			VEC_PUSH(arena, side->lines, side->n, side->size);

		*line = (struct diff_line){
			.text = p,
			.len = len,
			.hash = text_hash(p, len, 0),
		};
		p += len;
	}
}

static bool same_line(const struct diff *diff, size_t a, size_t b)
{
	const struct diff_line *x = &diff->old.lines[a],
			       *y = &diff->new.lines[b];

	return x->hash == y->hash && x->len == y->len &&
	       !memcmp(x->text, y->text, x->len);
}

static void add_change(struct diff *diff, const struct diff_change *change)
{
	struct diff_change *last = diff->n ? &diff->changes[diff->n - 1] : NULL;

	if (!change->na && !change->nb)
		return;
	if (last && last->a + last->na == change->a &&
	    last->b + last->nb == change->b) {
		last->na += change->na;
		last->nb += change->nb;
		return;
	}
	*VEC_PUSH(&diff->arena, diff->changes, diff->n, diff->size) = *change;
}

/* --- one difference ------------------------------------------------------ */

/* A search that starts at old line a and new line b, and covers the lines
 * before the common end. */
struct search {
	size_t a, b, na, nb;
	int edits, diagonal; /* edits and diagonal at which it ended */
};

static uint32_t *reach_at(const struct diff *diff, int edits, int diagonal)
{
	return &diff->reach[(size_t)edits * DIAGONALS +
			    (size_t)(diagonal + EDITS_MAX + 1)];
}

/* True if the diagonal is reached by an added line, false if by a removed
 * one. */
static bool comes_down(const struct diff *diff, int edits, int diagonal)
{
	if (diagonal == -edits)
		return true;
	if (diagonal == edits)
		return false;
	return *reach_at(diff, edits - 1, diagonal - 1) <
	       *reach_at(diff, edits - 1, diagonal + 1);
}

/* Follows equal lines along one diagonal. Returns true if the difference ends
 * on it. */
static bool walk_diagonal(struct diff *diff, struct search *search, int edits,
			  int diagonal)
{
	int64_t x = 0, y, run = 0;

	if (edits && comes_down(diff, edits, diagonal))
		x = *reach_at(diff, edits - 1, diagonal + 1);
	else if (edits)
		x = (int64_t)*reach_at(diff, edits - 1, diagonal - 1) + 1;
	y = x - diagonal;
	while (x < (int64_t)search->na && y >= 0 && y < (int64_t)search->nb &&
	       run < RUN &&
	       same_line(diff, search->a + (size_t)x, search->b + (size_t)y)) {
		x++;
		y++;
		run++;
	}
	*reach_at(diff, edits, diagonal) = (uint32_t)x;
	search->edits = edits;
	search->diagonal = diagonal;
	if (x > (int64_t)search->na || y > (int64_t)search->nb || y < 0)
		return false;
	return run == RUN ||
	       (x == (int64_t)search->na && y == (int64_t)search->nb);
}

static bool run_search(struct diff *diff, struct search *search)
{
	for (int edits = 0; edits <= EDITS_MAX; edits++)
		for (int k = -edits; k <= edits; k += 2)
			if (walk_diagonal(diff, search, edits, k))
				return true;
	return false;
}

/* Adds the changes of a search to the diff in the order of lines. Sets *a and
 * *b to its end. */
static void tell_search(struct diff *diff, const struct search *search,
			size_t *a, size_t *b)
{
	struct diff_change steps[EDITS_MAX + 1];
	int k = search->diagonal, n = 0;
	size_t x = *reach_at(diff, search->edits, k);

	*a = search->a + x;
	*b = search->b + (size_t)((int64_t)x - k);
	for (int edits = search->edits; edits > 0; edits--) {
		bool down = comes_down(diff, edits, k);
		int from = down ? k + 1 : k - 1;

		x = *reach_at(diff, edits - 1, from);
		steps[n++] = (struct diff_change){
			.a = search->a + x,
			.na = !down,
			.b = search->b + (size_t)((int64_t)x - from),
			.nb = down,
		};
		k = from;
	}
	while (n > 0)
		add_change(diff, &steps[--n]);
}

static void find_changes(struct diff *diff)
{
	size_t a = 0, b = 0, na = diff->old.n, nb = diff->new.n;

	while (na && nb && same_line(diff, na - 1, nb - 1)) {
		na--;
		nb--;
	}
	while (a < na || b < nb) {
		struct search search = {
			.a = a, .b = b, .na = na - a, .nb = nb - b};
		struct diff_change rest = {
			.a = a, .na = na - a, .b = b, .nb = nb - b};

		if (a < na && b < nb && same_line(diff, a, b)) {
			a++;
			b++;
			continue;
		}
		if (!run_search(diff, &search)) {
			add_change(diff, &rest);
			return;
		}
		tell_search(diff, &search, &a, &b);
	}
}

/* --- output -------------------------------------------------------------- */

/* Quotes names with unusual characters as git does. */
static void add_name(struct buf *out, const char *mark, const char *side,
		     const char *name)
{
	bool quote = false, blank = false;

	for (const char *p = name; *p; p++) {
		quote |= (unsigned char)*p < ' ' || *p == '"' || *p == '\\' ||
			 *p == 0x7f;
		blank |= *p == ' ';
	}
	buf_adds(out, mark);
	if (quote)
		buf_addc(out, '"');
	buf_adds(out, side);
	for (const char *p = name; *p; p++) {
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			buf_addf(out, "\\%03o", (unsigned char)*p);
		else if (*p == '"' || *p == '\\')
			buf_addf(out, "\\%c", *p);
		else
			buf_addc(out, *p);
	}
	if (quote)
		buf_addc(out, '"');
	else if (blank)
		buf_addc(out, '\t');
	buf_addc(out, '\n');
}

static void add_lines(struct buf *out, char sign, const struct side *side,
		      size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		const struct diff_line *line = &side->lines[i];
		const struct diff_text *text = side->text;

		buf_addc(out, sign);
		buf_add(out,
			text->shown ? text->shown + (line->text - text->text)
				    : line->text,
			line->len);
		if (line->text[line->len - 1] != '\n')
			buf_adds(out, "\n\\ No newline at end of file\n");
	}
}

/* Writes "start,count" of a hunk. If it has no lines, start is the line before
 * it. */
static void add_range(struct buf *out, size_t from, size_t n)
{
	if (n == 1)
		buf_addf(out, "%zu", from + 1);
	else
		buf_addf(out, "%zu,%zu", n ? from + 1 : from, n);
}

/* Writes changes i..j-1 with the lines around them. */
static void add_hunk(struct buf *out, const struct diff *diff, size_t i,
		     size_t j)
{
	const struct diff_change *first = &diff->changes[i];
	const struct diff_change *last = &diff->changes[j - 1];
	size_t before = first->a < CONTEXT ? first->a : CONTEXT;
	size_t left = diff->old.n - (last->a + last->na);
	size_t after = left < CONTEXT ? left : CONTEXT;
	size_t a = first->a - before, b = first->b - before;

	buf_adds(out, "@@ -");
	add_range(out, a, last->a + last->na + after - a);
	buf_adds(out, " +");
	add_range(out, b, last->b + last->nb + after - b);
	buf_adds(out, " @@\n");
	for (; i < j; i++) {
		const struct diff_change *change = &diff->changes[i];

		add_lines(out, ' ', &diff->old, a, change->a);
		a = change->a + change->na;
		add_lines(out, '-', &diff->old, change->a, a);
		add_lines(out, '+', &diff->new, change->b,
			  change->b + change->nb);
	}
	add_lines(out, ' ', &diff->old, a, a + after);
}

static void add_hunks(struct buf *out, const struct diff *diff)
{
	size_t i = 0;

	while (i < diff->n) {
		size_t j = i + 1;

		while (j < diff->n &&
		       diff->changes[j].a - (diff->changes[j - 1].a +
					     diff->changes[j - 1].na) <=
			       2 * CONTEXT)
			j++;
		add_hunk(out, diff, i, j);
		i = j;
	}
}

void diff_unified(const char *name, const struct diff_text *old,
		  const struct diff_text *new, struct buf *out)
{
	struct diff diff = {.arena = ARENA_INIT};

	if (old->len == new->len && !memcmp(old->text, new->text, old->len))
		return;
	while (text_starts(name, "./"))
		name += 2;
	while (*name == '/')
		name++;
	/* Every cell is written before it is read. */
	diff.reach = arena_alloc(
		&diff.arena, sizeof(*diff.reach) * (EDITS_MAX + 1) * DIAGONALS);
	split(&diff.arena, old, &diff.old);
	split(&diff.arena, new, &diff.new);
	find_changes(&diff);
	add_name(out, "--- ", "a/", name);
	add_name(out, "+++ ", "b/", name);
	add_hunks(out, &diff);
	arena_release(&diff.arena);
}
