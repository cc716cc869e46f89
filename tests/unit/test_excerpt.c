/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Excerpts of sources. The underline is below the marked text, counted in
 * terminal cells, whatever is on the line. Control characters never reach the
 * terminal.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "lint/text/excerpt.h"
#include "report_fixture.h"

struct wanted_mark {
	const char *word;
	int n;		  /* number of its occurrence in the text */
	const char *text; /* NULL: the primary mark */
};

static char *render(const char *text, const struct wanted_mark *wanted,
		    size_t n, unsigned width)
{
	struct fixture fixture;
	struct mark marks[8];
	struct excerpt excerpt = {.source = &fixture.source,
				  .marks = marks,
				  .n = n,
				  .gutter = 1,
				  .width = width};
	struct buf out;
	char *copy;

	fixture_text(&fixture, text);
	for (size_t i = 0; i < n; i++) {
		struct place place =
			fixture_place(&fixture, wanted[i].word, wanted[i].n);

		marks[i] = (struct mark){place.line, place.start, place.end,
					 !wanted[i].text,
					 wanted[i].text ? wanted[i].text : ""};
	}
	buf_init(&out);
	excerpt_add(&excerpt, &out);
	copy = strdup(out.data);
	buf_release(&out);
	fixture_release(&fixture);
	return copy;
}

static void expect_one(const char *text, const char *word, unsigned width,
		       const char *expected)
{
	struct wanted_mark mark = {word, 0, NULL};
	char *got = render(text, &mark, 1, width);

	assert_string_equal(got, expected);
	free(got);
}

static void a_mark_stands_below_its_word(void **state)
{
	static const struct {
		const char *text, *word, *expected;
	} cases[] = {
		{"a: b\n", "b", "1 | a: b\n  |    ^\n"},
		{"a: word\n", "word", "1 | a: word\n  |    ^^^^\n"},
		/* the last line has no line end */
		{"x\na: b", "b", "2 | a: b\n  |    ^\n"},
		/* CR is not part of the line */
		{"a: b\r\nc: d\r\n", "b", "1 | a: b\n  |    ^\n"},
		{"a: b\r\nc: d\r\n", "b\r", "1 | a: b\n  |    ^\n"},
		/* only the first of several lines */
		{"a: b\nc: d\n", "b\nc", "1 | a: b\n  |    ^\n"},
		{"a: b\nc: d\n", "\nc", "1 | a: b\n  |     ^\n"},
		/* tabs go to the next multiple of eight, in both lines */
		{"\ta: b\n", "a", "1 |         a: b\n  |         ^\n"},
		{"x\ta: b\n", "a", "1 | x       a: b\n  |         ^\n"},
		{"a:\tb\n", "\tb", "1 | a:      b\n  |   ^^^^^^^\n"},
		/* wide characters take two cells */
		{"日本: x\n", "x", "1 | 日本: x\n  |       ^\n"},
		{"a: 日本\n", "日本", "1 | a: 日本\n  |    ^^^^\n"},
		{"😀: x\n", "x", "1 | 😀: x\n  |     ^\n"},
		/* combining characters take no cell; an accented letter of one
		 * code point takes one */
		{"e\u0301: x\n", "x", "1 | e\u0301: x\n  |    ^\n"},
		{"é: x\n", "x", "1 | é: x\n  |    ^\n"},
		/* an empty line */
		{"\na\n", "\na", "1 |\n  | ^\n"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		expect_one(cases[i].text, cases[i].word, 80, cases[i].expected);
}

static void control_characters_are_shown_harmless(void **state)
{
	static const struct {
		const char *text, *word, *expected;
	} cases[] = {
		{"\x1b[31ma: b", "b", "1 | ␛[31ma: b\n  |         ^\n"},
		{"\x7f\x01: b", "b", "1 | ␡␁: b\n  |     ^\n"},
		{"a\rc: b", "b", "1 | a␍c: b\n  |      ^\n"},
		{"\xc2\x9b: b", "b", "1 | \ufffd: b\n  |    ^\n"},
		{"\u202e: b", "b", "1 | \ufffd: b\n  |    ^\n"},
		{"\u2028: b", "b", "1 | \ufffd: b\n  |    ^\n"},
		{"\xff\xfe: b", "b", "1 | \ufffd\ufffd: b\n  |     ^\n"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		/* The text does not start with FF FE, UTF-16's byte order
		 * mark. */
		char text[64];

		snprintf(text, sizeof(text), "-\n%s", cases[i].text);
		struct wanted_mark mark = {cases[i].word, 0, NULL};
		char *got = render(text, &mark, 1, 80);

		assert_int_equal(got[0], '2');
		got[0] = '1';
		assert_string_equal(got, cases[i].expected);
		free(got);
	}
}

static void labels_stand_behind_their_marks(void **state)
{
	static const struct wanted_mark before[] = {{"four", 0, NULL},
						    {"one", 0, "first"}};
	static const struct wanted_mark near_by[] = {{"three", 0, NULL},
						     {"one", 0, "first"}};
	static const struct wanted_mark after[] = {{"one", 0, NULL},
						   {"two", 0, "sec\x1b\nond"}};
	static const struct wanted_mark same[] = {
		{"b", 0, NULL}, {"a", 0, "key"}, {"d", 0, "other"}};
	char *got;

	got = render("one\ntwo\nthree\nfour\n", before, 2, 80);
	assert_string_equal(got, "1 | one\n  | --- first\n...\n"
				 "4 | four\n  | ^^^^\n");
	free(got);
	/* a single line between is shown instead of the dots */
	got = render("one\ntwo\nthree\nfour\n", near_by, 2, 80);
	assert_string_equal(got, "1 | one\n  | --- first\n2 | two\n"
				 "3 | three\n  | ^^^^^\n");
	free(got);
	got = render("one\ntwo\n", after, 2, 80);
	assert_string_equal(got, "1 | one\n  | ^^^\n"
				 "2 | two\n  | --- sec␛␊ond\n");
	free(got);
	got = render("a: b\nc: d", same, 3, 80);
	assert_string_equal(got, "1 | a: b\n  |    ^\n  | - key\n"
				 "2 | c: d\n  |    - other\n");
	free(got);
}

/* Returns the cells of the first line up to its end, including the gutter. */
static unsigned line_cells(const char *s)
{
	unsigned cells = 0;
	struct escape escape;

	while (*s != '\n') {
		escape_read(&escape, s, strlen(s));
		cells += escape.width;
		s += escape.used;
	}
	return cells;
}

/* Checks the text above the carets, cut out of the line above. */
static void expect_under(const char *got, const char *word)
{
	const char *second = strchr(got, '\n') + 1;
	size_t cell = strcspn(second, "^"), carets = strspn(second + cell, "^");
	struct escape escape;
	const char *s = got;

	assert_int_equal(carets, strlen(word));
	while (cell) {
		escape_read(&escape, s, strlen(s));
		s += escape.used;
		assert_true(escape.width <= cell);
		cell -= escape.width;
	}
	assert_memory_equal(s, word, strlen(word));
}

static void long_lines_are_cut_around_the_mark(void **state)
{
	static const size_t places[] = {0,    10,   50,	  70,	90,    200,
					1000, 1020, 1030, 5000, 99990, 99996};
	static const char *const fillers[] = {"-", "\xc3\xa9", "日"};

	for (size_t f = 0; f < 3; f++) {
		for (size_t p = 0; p < 12; p++) {
			struct wanted_mark mark = {"word", 0, NULL};
			size_t step = strlen(fillers[f]);
			char *text = malloc(100010 * step), *got;

			for (size_t i = 0; i < 100000; i++)
				memcpy(text + i * step, fillers[f], step);
			memcpy(text + places[p] * step, "word", 4);
			memset(text + places[p] * step + 4, '+',
			       (4 * step - 4) % step);
			text[100000 * step] = '\0';
			got = render(text, &mark, 1, 60);
			expect_under(got, "word");
			assert_true(line_cells(got) <= 60);
			assert_non_null(strstr(got, "…"));
			free(got);
			free(text);
		}
	}
}

static void lines_that_fit_are_not_cut(void **state)
{
	/* 44 cells fit into a window of 60 cells, of which 4 are the gutter. */
	expect_one("key: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n", "key", 60,
		   "1 | key: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n"
		   "  | ^^^\n");
	/* 41 cells do not fit into a window of 44 with a gutter of 4: the line
	 * is cut at its end, because the mark is at its start. */
	expect_one("key: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n", "key", 44,
		   "1 | key: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…\n"
		   "  | ^^^\n");
	/* A mark longer than the window is cut with it. */
	expect_one("k: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n",
		   "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 44,
		   "1 | k: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…\n"
		   "  |    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n");
}

static void places_beyond_the_text(void **state)
{
	struct fixture fixture;
	struct mark mark = {9, 500, 900, true, ""};
	struct excerpt excerpt = {
		.source = &fixture.source, .marks = &mark, .n = 1, .gutter = 1};
	struct buf out;

	fixture_text(&fixture, "a: b\n");
	buf_init(&out);
	excerpt_add(&excerpt, &out);
	assert_string_equal(out.data, "9 |\n  | ^\n");
	buf_reset(&out);
	mark = (struct mark){1, 500, 900, true, ""};
	excerpt_add(&excerpt, &out);
	assert_string_equal(out.data, "1 | a: b\n  |     ^\n");
	buf_release(&out);
	fixture_release(&fixture);
}

static void colors_are_closed(void **state)
{
	struct fixture fixture;
	struct mark mark = {1, 3, 4, true, "here"};
	struct excerpt excerpt = {.source = &fixture.source,
				  .marks = &mark,
				  .n = 1,
				  .gutter = 1,
				  .color = true,
				  .severity = SEVERITY_ERROR};
	struct buf out;

	fixture_text(&fixture, "a: b\n");
	buf_init(&out);
	excerpt_add(&excerpt, &out);
	assert_string_equal(out.data,
			    "\033[1;34m1 |\033[0m a: b\n\033[1;34m  |\033[0m"
			    "    \033[1;31m^ here\033[0m\n");
	buf_release(&out);
	fixture_release(&fixture);
}

static void characters_have_their_widths(void **state)
{
	static const struct {
		uint32_t c;
		unsigned width;
	} cases[] = {
		{'a', 1},     {0xe9, 1},    {0x300, 0},	   {0x36f, 0},
		{0x370, 1},   {0x10ff, 1},  {0x1100, 2},   {0x1160, 0},
		{0x200d, 0},  {0x2018, 1},  {0x231a, 2},   {0x2500, 1},
		{0x3000, 2},  {0x303f, 1},  {0x3042, 2},   {0x4e00, 2},
		{0xac00, 2},  {0xfe0f, 0},  {0xff01, 2},   {0xff61, 1},
		{0xfffd, 1},  {0x1f600, 2}, {0x1f1e6, 1},  {0x20000, 2},
		{0x3fffd, 2}, {0xe0100, 0}, {0x10fffd, 1},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(code_point_width(cases[i].c), cases[i].width);
}

static void one_line_of_text(void **state)
{
	static const struct {
		const char *text, *expected;
	} cases[] = {
		{"", ""},
		{"plain `a` text", "plain `a` text"},
		{"a\tb", "a b"},
		{"a\nb\r\n", "a␊b␍␊"},
		{"\x1b]8;;x\x07", "␛]8;;x␇"},
		{"日本 é 😀", "日本 é 😀"},
		{"\u200b\u2066\ufeff", "\ufffd\ufffd\ufffd"},
		{"\xed\xa0\x80", "\ufffd\ufffd\ufffd"},
		{"\xc0\xaf\xe6\x97", "\ufffd\ufffd\ufffd\ufffd"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct buf out;

		buf_init(&out);
		escape_adds(&out, cases[i].text);
		assert_string_equal(out.data, cases[i].expected);
		buf_release(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_mark_stands_below_its_word),
		cmocka_unit_test(control_characters_are_shown_harmless),
		cmocka_unit_test(labels_stand_behind_their_marks),
		cmocka_unit_test(long_lines_are_cut_around_the_mark),
		cmocka_unit_test(lines_that_fit_are_not_cut),
		cmocka_unit_test(places_beyond_the_text),
		cmocka_unit_test(colors_are_closed),
		cmocka_unit_test(characters_have_their_widths),
		cmocka_unit_test(one_line_of_text),
	};

	return cmocka_run_group_tests_name("excerpt", tests, NULL, NULL);
}
