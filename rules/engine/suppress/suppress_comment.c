/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads comments `# gpugate: ignore[rule,rule] until=2027-01-31 -- reason`, and
 * the same with ignore-file. A comment after a value covers its own line; a
 * comment alone on a line covers the next line that is not a comment, so
 * several may follow each other.
 *
 * A file without "gpugate:" costs one search. The text before the `#` decides
 * whether it starts a comment, as in YAML; text inside of scalars is excluded
 * later, when the documents are known.
 */
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "suppress_internal.h"

static const char marker[] = "gpugate:";

struct comment_scan {
	struct suppressions *s;
	const char *text;
	size_t len;
	/* end of the last block of lines that are comments */
	size_t block_end;
	uint32_t block_line; /* line that the block covers */
};

static bool is_space(char c)
{
	return c == ' ' || c == '\t';
}

static size_t line_end(const struct comment_scan *scan, size_t at)
{
	const char *end = memchr(scan->text + at, '\n', scan->len - at);
	size_t stop = end ? (size_t)(end - scan->text) : scan->len;

	while (stop > at && scan->text[stop - 1] == '\r')
		stop--;
	return stop;
}

/* Moves back over blanks, but not past the line, so that long lines cost
 * little. */
static size_t back_over_space(const struct comment_scan *scan, size_t at)
{
	while (at && is_space(scan->text[at - 1]))
		at--;
	return at;
}

/* Finds the `#` right before the marker at `at`; false if there is none. */
static bool find_hash(const struct comment_scan *scan, size_t at, size_t *hash)
{
	size_t i = back_over_space(scan, at);

	if (!i || scan->text[i - 1] != '#')
		return false;
	while (i && scan->text[i - 1] == '#')
		i--;
	*hash = i;
	return !i || is_space(scan->text[i - 1]) || scan->text[i - 1] == '\n';
}

static bool is_alone(const struct comment_scan *scan, size_t hash)
{
	size_t i = back_over_space(scan, hash);

	return !i || scan->text[i - 1] == '\n';
}

static bool is_comment_line(const struct comment_scan *scan, size_t at)
{
	while (at < scan->len && is_space(scan->text[at]))
		at++;
	return at < scan->len && scan->text[at] == '#';
}

/*
 * Returns the line that the comment at hash covers. Adjacent comments share the
 * result, so that a block of them is scanned once.
 */
static uint32_t covered_line(struct comment_scan *scan, size_t hash)
{
	uint32_t line = source_position(scan->s->source, (uint32_t)hash).line;
	size_t at = hash;

	if (!is_alone(scan, hash))
		return line;
	if (hash < scan->block_end)
		return scan->block_line;
	do {
		const char *end = memchr(scan->text + at, '\n', scan->len - at);

		line++;
		at = end ? (size_t)(end - scan->text) + 1 : scan->len;
	} while (is_comment_line(scan, at));
	scan->block_end = at;
	scan->block_line = line;
	return line;
}

/* --- syntax of a comment -------------------------------------------------- */

/* True for white space and for line breaks, which annotations may contain. */
static bool is_blank(char c)
{
	return is_space(c) || c == '\n' || c == '\r';
}

void suppress_read_words(struct arena *arena, const char *text, size_t len,
			 struct suppress_words *words)
{
	const char *end = text + len;

	while (text < end && words->n < SUPPRESS_WORDS_MAX) {
		const char *comma = memchr(text, ',', (size_t)(end - text));
		const char *stop = comma ? comma : end, *last = stop;

		while (text < last && is_blank(*text))
			text++;
		while (last > text && is_blank(last[-1]))
			last--;
		if (last > text)
			VEC_PUSH(arena, words->items, words->n, words->size)
				->text = arena_strndup(arena, text,
						       (size_t)(last - text));
		text = stop + (comma ? 1 : 0);
	}
}

struct comment_cursor {
	const char *p, *end;
};

static void skip_space(struct comment_cursor *c)
{
	while (c->p < c->end && is_space(*c->p))
		c->p++;
}

static bool skip_word(struct comment_cursor *c, const char *word)
{
	size_t len = strlen(word);

	if ((size_t)(c->end - c->p) < len || memcmp(c->p, word, len) != 0)
		return false;
	c->p += len;
	return true;
}

static void fail(struct suppress_clause *clause, const char *text)
{
	if (!clause->problem)
		clause->problem = text;
	clause->broken = true;
}

static void read_list(struct suppressions *s, struct comment_cursor *c,
		      struct suppress_clause *clause)
{
	const char *close;

	skip_space(c);
	if (!skip_word(c, "[")) {
		fail(clause, "name the rules: `# gpugate: ignore[RULE] -- "
			     "reason`");
		return;
	}
	close = memchr(c->p, ']', (size_t)(c->end - c->p));
	if (!close) {
		fail(clause, "`[` is not closed by `]`");
		return;
	}
	suppress_read_words(s->arena, c->p, (size_t)(close - c->p),
			    &clause->words);
	if (!clause->words.n)
		fail(clause, "no rule is named between `[` and `]`");
	if (clause->words.n == SUPPRESS_WORDS_MAX)
		fail(clause, "too many rules are named");
	c->p = close + 1;
}

static void read_until(struct comment_cursor *c, struct suppress_clause *clause)
{
	const char *start;

	skip_space(c);
	if (!skip_word(c, "until="))
		return;
	start = c->p;
	while (c->p < c->end && !is_space(*c->p))
		c->p++;
	if (!date_parse(start, (size_t)(c->p - start), &clause->until))
		fail(clause, "`until=` needs a date, for example "
			     "until=2027-01-31");
}

/* Reads the reason. A missing one is reported, but the suppression still
 * applies. */
static void read_reason(struct suppressions *s, struct comment_cursor *c,
			struct suppress_clause *clause)
{
	skip_space(c);
	if (c->p == c->end) {
		clause->problem =
			"the reason is missing: end the comment with `-- "
			"reason`";
		return;
	}
	if (!skip_word(c, "--")) {
		fail(clause, "expected `until=YYYY-MM-DD` or `-- reason` after "
			     "`]`");
		return;
	}
	skip_space(c);
	while (c->end > c->p && is_space(c->end[-1]))
		c->end--;
	if (c->p == c->end)
		clause->problem = "the reason after `--` is missing";
	else
		clause->reason =
			arena_strndup(s->arena, c->p, (size_t)(c->end - c->p));
	/* After `--`, `until=` would be a part of the reason, and the
	 * suppression would never expire. */
	if (strstr(clause->reason, "until="))
		clause->problem = "`until=` counts only before `--`";
}

static void read_comment(struct suppressions *s, struct comment_cursor *c,
			 struct suppress_comment *comment)
{
	struct suppress_clause *clause = &comment->clause;

	skip_space(c);
	if (skip_word(c, "ignore-file"))
		comment->whole_file = true;
	else if (!skip_word(c, "ignore"))
		fail(clause, "expected `ignore[RULE]` or `ignore-file[RULE]` "
			     "after `gpugate:`");
	if (!clause->broken)
		read_list(s, c, clause);
	if (!clause->broken)
		read_until(c, clause);
	if (!clause->broken)
		read_reason(s, c, clause);
}

/* --- the scan ------------------------------------------------------------- */

static void add_comment(struct comment_scan *scan, size_t hash, size_t at)
{
	struct suppressions *s = scan->s;
	size_t end = line_end(scan, at);
	struct comment_cursor cursor = {scan->text + at + strlen(marker),
					scan->text + end};
	struct suppress_comment comment = {
		.clause = {.start = (uint32_t)hash,
			   .end = (uint32_t)end,
			   .until = DATE_NONE,
			   .reason = ""},
		.line = covered_line(scan, hash),
	};

	read_comment(s, &cursor, &comment);
	if (comment.whole_file)
		*VEC_PUSH(s->arena, s->whole_file, s->nwhole_file,
			  s->whole_file_size) = s->ncomments;
	*VEC_PUSH(s->arena, s->comments, s->ncomments, s->comments_size) =
		comment;
}

void suppress_read_comments(struct suppressions *s)
{
	struct comment_scan scan = {
		.s = s, .text = s->source->text, .len = s->source->len};
	size_t at = 0;

	while (at < scan.len) {
		const char *found =
			text_find(scan.text + at, scan.len - at, marker);
		size_t hash;

		if (!found)
			break;
		at = (size_t)(found - scan.text);
		if (find_hash(&scan, at, &hash)) {
			add_comment(&scan, hash, at);
			at = line_end(&scan, at);
		} else {
			at += strlen(marker);
		}
	}
}
