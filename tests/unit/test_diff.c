/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unified diffs. Small ones have exact texts. Random and large ones give the
 * new text when they are applied. tests/check/splice.sh passes them to patch(1)
 * and git apply.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/array.h"
#include "doc/splice.h"

struct diff_case {
	const char *name, *old, *new, *diff;
};

static void make(const char *name, const struct buf *old, const struct buf *new,
		 struct buf *out)
{
	struct diff_text a = {old->data, old->len, NULL};
	struct diff_text b = {new->data, new->len, NULL};

	diff_unified(name, &a, &b, out);
}

static void changes_are_shown_with_their_context(void **state)
{
	static const struct diff_case cases[] = {
		{"f", "", "", ""},
		{"f", "a\n", "a\n", ""},
		{"f", "a\n", "b\n", "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n"},
		{"f", "", "a\n", "--- a/f\n+++ b/f\n@@ -0,0 +1 @@\n+a\n"},
		{"f", "a\n", "", "--- a/f\n+++ b/f\n@@ -1 +0,0 @@\n-a\n"},
		{"f", "a\n", "a\nb\n",
		 "--- a/f\n+++ b/f\n@@ -1 +1,2 @@\n a\n+b\n"},
		{"f", "a", "a\nb",
		 "--- a/f\n+++ b/f\n@@ -1 +1,2 @@\n-a\n"
		 "\\ No newline at end of file\n+a\n+b\n"
		 "\\ No newline at end of file\n"},
		{"f", "x\na", "y\na",
		 "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-x\n+y\n a\n"
		 "\\ No newline at end of file\n"},
		{"f", "a\r\nb\r\n", "a\r\nc\r\nb\r\n",
		 "--- a/f\n+++ b/f\n@@ -1,2 +1,3 @@\n a\r\n+c\r\n b\r\n"},
		{"f", "1\n2\n3\n4\n5\n6\n7\n8\n9\n",
		 "1\n2\n3\n4\nX\n6\n7\n8\n9\n",
		 "--- a/f\n+++ b/f\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+X\n 6\n"
		 " 7\n 8\n"},
		/* six lines between make one hunk, seven make two */
		{"f", "a\n1\n2\n3\n4\n5\n6\nb\n", "A\n1\n2\n3\n4\n5\n6\nB\n",
		 "--- a/f\n+++ b/f\n@@ -1,8 +1,8 @@\n-a\n+A\n 1\n 2\n 3\n 4\n"
		 " 5\n 6\n-b\n+B\n"},
		{"f", "a\n1\n2\n3\n4\n5\n6\n7\nb\n",
		 "A\n1\n2\n3\n4\n5\n6\n7\nB\n",
		 "--- a/f\n+++ b/f\n@@ -1,4 +1,4 @@\n-a\n+A\n 1\n 2\n 3\n"
		 "@@ -6,4 +6,4 @@\n 5\n 6\n 7\n-b\n+B\n"},
		{"./d/f", "a\n", "b\n",
		 "--- a/d/f\n+++ b/d/f\n@@ -1 +1 @@\n-a\n+b\n"},
		{"/d/f", "a\n", "b\n",
		 "--- a/d/f\n+++ b/d/f\n@@ -1 +1 @@\n-a\n+b\n"},
		{"d e", "a\n", "b\n",
		 "--- a/d e\t\n+++ b/d e\t\n@@ -1 +1 @@\n-a\n+b\n"},
		{"d\"\n", "a\n", "b\n",
		 "--- \"a/d\\\"\\012\"\n+++ \"b/d\\\"\\012\"\n@@ -1 +1 @@\n"
		 "-a\n+b\n"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct diff_case *c = &cases[i];
		struct diff_text old = {c->old, strlen(c->old), NULL};
		struct diff_text new = {c->new, strlen(c->new), NULL};
		struct buf out;

		buf_init(&out);
		diff_unified(c->name, &old, &new, &out);
		assert_string_equal(out.data, c->diff);
		buf_release(&out);
	}
}

/* --- applying ------------------------------------------------------------ */

static const char *next_line(const char *p)
{
	const char *lf = strchr(p, '\n');

	assert_non_null(lf);
	return lf + 1;
}

/* Returns a line of a hunk without its sign, and without its line end if
 * asked. */
static const char *take_line(const char *p, struct buf *out)
{
	const char *next = next_line(p);
	size_t len = (size_t)(next - p) - 1;

	if (!strncmp(next, "\\ No", 4)) {
		len--;
		next = next_line(next);
	}
	buf_add(out, p + 1, len);
	return next;
}

static void apply(const struct buf *old, const char *diff, struct buf *out)
{
	const char *p = next_line(next_line(diff)), *from = old->data;
	struct buf line;
	size_t at = 1;

	buf_init(&line);
	while (*p) {
		size_t first, n = 1;
		int read = sscanf(p, "@@ -%zu,%zu", &first, &n);

		assert_true(read >= 1);
		p = next_line(p);
		for (first += !n; at < first; at++) {
			const char *next = next_line(from);

			buf_add(out, from, (size_t)(next - from));
			from = next;
		}
		while (*p && *p != '@') {
			char sign = *p;

			buf_reset(&line);
			p = take_line(p, &line);
			if (sign != '-')
				buf_add(out, line.data, line.len);
			if (sign == '+')
				continue;
			assert_memory_equal(from, line.data, line.len);
			from += line.len;
			at++;
		}
	}
	buf_adds(out, from);
	buf_release(&line);
}

static void check(const struct buf *old, const struct buf *new)
{
	struct buf diff, again;

	buf_init(&diff);
	buf_init(&again);
	make("f", old, new, &diff);
	if (diff.len)
		apply(old, diff.data, &again);
	else
		buf_adds(&again, old->data);
	assert_string_equal(again.data, new->data);
	buf_release(&diff);
	buf_release(&again);
}

static unsigned draw(uint32_t *state, unsigned n)
{
	*state = *state * 1664525u + 1013904223u;
	return (*state >> 8) % n;
}

static void random_texts(uint32_t *state, struct buf *old, struct buf *new)
{
	unsigned kinds = 1 + draw(state, 30);
	unsigned rate = 1 + draw(state, 10);

	for (unsigned n = draw(state, 60); n; n--) {
		unsigned line = draw(state, kinds);
		unsigned what = draw(state, 10);

		if (what >= rate || what > 2)
			what = 3;
		if (what != 0)
			buf_addf(old, "%u\n", line);
		if (what == 2)
			buf_addf(new, "new %u\n", line);
		else if (what != 1)
			buf_addf(new, "%u\n", line);
	}
	if (old->len && !draw(state, 4))
		old->data[--old->len] = '\0';
	if (new->len && !draw(state, 4))
		new->data[--new->len] = '\0';
}

static void a_diff_of_random_texts_applies(void **state)
{
	uint32_t seed = 7;

	(void)state;
	for (unsigned i = 0; i < 20000; i++) {
		struct buf old, new;

		buf_init(&old);
		buf_init(&new);
		random_texts(&seed, &old, &new);
		check(&old, &new);
		buf_release(&old);
		buf_release(&new);
	}
}

/* Small changes all over a long file are found as such, and fast. */
static void a_long_file_with_small_changes_is_quick(void **state)
{
	struct buf old, new, diff;
	clock_t begin = clock();

	(void)state;
	buf_init(&old);
	buf_init(&new);
	buf_init(&diff);
	for (unsigned i = 0; i < 200000; i++) {
		buf_addf(&old, "line %u\n", i / 3);
		buf_addf(&new, "line %u\n", i / 3);
		if (i % 20 == 7)
			buf_adds(&new, "new\nnew too\n");
		else if (i % 20 == 14)
			buf_adds(&old, "gone\n");
	}
	make("f", &old, &new, &diff);
	assert_true(diff.len < 4 * old.len);
	check(&old, &new);
	assert_true(clock() - begin < 5 * CLOCKS_PER_SEC);
	buf_release(&old);
	buf_release(&new);
	buf_release(&diff);
}

/* Nothing in common: the work is limited, and the result is right. */
static void texts_with_nothing_in_common_are_bounded(void **state)
{
	struct buf old, new;
	clock_t begin = clock();

	(void)state;
	buf_init(&old);
	buf_init(&new);
	for (unsigned i = 0; i < 100000; i++) {
		buf_addf(&old, "old %u\n", i);
		buf_addf(&new, "new %u\n", i);
	}
	check(&old, &new);
	assert_true(clock() - begin < 5 * CLOCKS_PER_SEC);
	buf_release(&old);
	buf_release(&new);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(changes_are_shown_with_their_context),
		cmocka_unit_test(a_diff_of_random_texts_applies),
		cmocka_unit_test(a_long_file_with_small_changes_is_quick),
		cmocka_unit_test(texts_with_nothing_in_common_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
