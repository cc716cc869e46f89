/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conversion of offsets to lines and columns: code points, line ends, byte
 * order marks and UTF-16 in both byte orders, complete and damaged. Offsets in
 * a scalar's text lead back to the file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "doc/load.h"
#include "doc/source.h"

#define BYTES(text) (text), sizeof(text) - 1

static void assert_position(struct source *source, uint32_t offset,
			    uint32_t line, uint32_t column)
{
	struct position position = source_position(source, offset);

	assert_int_equal(position.line, line);
	assert_int_equal(position.column, column);
}

static void assert_line(struct source *source, uint32_t n, const char *text)
{
	size_t len;
	const char *line = source_line(source, n, &len);

	assert_int_equal(len, strlen(text));
	assert_memory_equal(line, text, len);
}

static void positions_count_code_points(void **state)
{
	struct arena arena = ARENA_INIT;
	struct source source;

	source_init(&source, &arena, "a.yaml",
		    BYTES("a: 1\nn: \xc3\xa4\xf0\x9f\x98\x80x\n\nlast"));
	assert_null(source.lines);
	assert_position(&source, 0, 1, 1);
	assert_position(&source, 4, 1, 5); /* the LF is part of its line */
	assert_position(&source, 5, 2, 1);
	assert_position(&source, 8, 2, 4);  /* two bytes, one column */
	assert_position(&source, 10, 2, 5); /* four bytes, one column */
	assert_position(&source, 14, 2, 6);
	assert_position(&source, 16, 3, 1);
	assert_position(&source, 17, 4, 1);
	assert_position(&source, 21, 4, 5);
	assert_position(&source, 4000, 4, 5); /* beyond the end: the end */
	assert_int_equal(source.nlines, 4);
	arena_release(&arena);
}

/* The result does not depend on the position that was computed before. */
static void columns_in_any_order(void **state)
{
	static const char text[] = "x: \xc3\xa4\xf0\x9f\x98\x80yz\n"
				   "\xc3\xa4\xc3\xa4: [1, \xe2\x82\xac]";
	struct arena arena = ARENA_INIT;
	struct source asked, fresh;

	source_init(&asked, &arena, "a.yaml", BYTES(text));
	for (uint32_t i = 0; i < sizeof(text); i++)
		for (uint32_t j = 0; j < sizeof(text); j++) {
			struct position want;

			source_init(&fresh, &arena, "a.yaml", BYTES(text));
			want = source_position(&fresh, j);
			source_position(&asked, i);
			assert_position(&asked, j, want.line, want.column);
		}
	arena_release(&arena);
}

static void lines_lose_their_ends(void **state)
{
	struct arena arena = ARENA_INIT;
	struct source source;

	source_init(&source, &arena, "-", BYTES("a\r\nb\rc\n\nd\n"));
	assert_line(&source, 1, "a");
	assert_line(&source, 2, "b\rc"); /* a lone CR ends no line */
	assert_line(&source, 3, "");
	assert_line(&source, 4, "d");
	assert_line(&source, 5, "");
	assert_line(&source, 6, "");
	assert_line(&source, 0, "");
	assert_position(&source, 5, 2, 3);
	arena_release(&arena);
}

static void empty_source_has_one_line(void **state)
{
	struct arena arena = ARENA_INIT;
	struct source source;

	source_init(&source, &arena, "-", NULL, 0);
	assert_position(&source, 0, 1, 1);
	assert_line(&source, 1, "");
	assert_int_equal(source.nlines, 1);
	arena_release(&arena);
}

static void many_lines_are_found(void **state)
{
	struct arena arena = ARENA_INIT;
	struct source source;
	char text[3000];

	for (size_t i = 0; i < sizeof(text); i += 3)
		memcpy(text + i, "ab\n", 3);
	source_init(&source, &arena, "-", text, sizeof(text));
	for (uint32_t i = 0; i < sizeof(text); i++)
		assert_position(&source, i, i / 3 + 1, i % 3 + 1);
	arena_release(&arena);
}

static void utf8_mark_is_taken_off(void **state)
{
	struct arena arena = ARENA_INIT;
	struct source source;

	source_init(&source, &arena, "-",
		    BYTES("\xef\xbb\xbf"
			  "a: 1"));
	assert_int_equal(source.bom, 3);
	assert_false(source.transcoded);
	assert_int_equal(source.len, 4);
	assert_memory_equal(source.text, "a: 1", 4);
	source_init(&source, &arena, "-", BYTES("\xef\xbb"));
	assert_int_equal(source.bom, 0);
	assert_int_equal(source.len, 2);
	arena_release(&arena);
}

static const struct {
	const char *bytes;
	size_t len;
	const char *utf8;
} utf16[] = {
	{BYTES("\xff\xfe"), ""},
	{BYTES("\xfe\xff"), ""},
	{BYTES("\xff\xfe"
	       "a\0:\0"),
	 "a:"},
	{BYTES("\xfe\xff"
	       "\0a\0:"),
	 "a:"},
	{BYTES("\xff\xfe\xe4\x00\xac\x20"), "\xc3\xa4\xe2\x82\xac"},
	{BYTES("\xfe\xff\x00\xe4\x20\xac"), "\xc3\xa4\xe2\x82\xac"},
	{BYTES("\xff\xfe\x3d\xd8\x00\xde"), "\xf0\x9f\x98\x80"},
	{BYTES("\xfe\xff\xd8\x3d\xde\x00"), "\xf0\x9f\x98\x80"},
	/* Surrogates without their partner, and a last single byte. */
	{BYTES("\xfe\xff\xd8\x3d"), "\xef\xbf\xbd"},
	{BYTES("\xfe\xff\xd8\x3d\x00"
	       "a"),
	 "\xef\xbf\xbd"
	 "a"},
	{BYTES("\xfe\xff\xde\x00\x00"
	       "a"),
	 "\xef\xbf\xbd"
	 "a"},
	{BYTES("\xfe\xff\xde\x00\xde\x00"), "\xef\xbf\xbd"},
	{BYTES("\xfe\xff\xd8\x3d\xd8\x3d\xde\x00"),
	 "\xef\xbf\xbd\xf0\x9f\x98\x80"},
	{BYTES("\xff\xfe"
	       "a\0b"),
	 "a\xef\xbf\xbd"},
	{BYTES("\xff\xfe"
	       "b"),
	 "\xef\xbf\xbd"},
};

static void utf16_is_decoded(void **state)
{
	for (size_t i = 0; i < sizeof(utf16) / sizeof(*utf16); i++) {
		struct arena arena = ARENA_INIT;
		struct source source;

		source_init(&source, &arena, "-", utf16[i].bytes, utf16[i].len);
		assert_true(source.transcoded);
		assert_int_equal(source.bom, 0);
		assert_int_equal(source.len, strlen(utf16[i].utf8));
		assert_memory_equal(source.text, utf16[i].utf8, source.len);
		arena_release(&arena);
	}
}

/* Checks that the n-th @ of the value is the n-th @ of the file. */
static void assert_marks(const char *text, unsigned wanted)
{
	struct arena arena = ARENA_INIT;
	const struct node *value;
	struct source source;
	struct loader loader;
	struct doc doc;
	uint32_t mark = 0;
	unsigned n = 0;

	source_init(&source, &arena, "a.yaml", text, strlen(text));
	loader_init(&loader, &source, &load_limits_default, &arena);
	assert_int_equal(loader_next(&loader, &doc), 1);
	value = node_get(doc.root, "e");
	for (uint32_t i = 0; i < value->len; i++) {
		if (value->str[i] != '@')
			continue;
		while (text[mark] != '@')
			mark++;
		assert_int_equal(source_text_offset(&source, value, i), mark);
		mark++;
		n++;
	}
	assert_int_equal(n, wanted);
	arena_release(&arena);
}

static void texts_lead_to_the_file(void **state)
{
	assert_marks("e: a @b @\n", 2);
	assert_marks("e: a @b\n   c @ d\n", 2);
	assert_marks("e: 'it''s @'' '''''\n", 1);
	assert_marks("e: '''''@''@'\n", 2);
	assert_marks("e: \"\\\"@\\t\\u00e4 \\x41@ \\\\@\"\n", 3);
	assert_marks("e: \"a @\n   b @ \\\n   c@\"\n", 3);
	assert_marks("e: |\n  a @\n    b @\n\n  c@\nf: 1\n", 3);
	assert_marks("x: 1\ne: >-\n   a\n   b @\n   c @ d\n\n   @\n", 3);
	assert_marks("e: >\n  a @\n    - b @\n    - c\n  d@\n", 3);
	assert_marks("{\"e\": \"\\u003e=@\\n\\\"@\"}\n", 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(positions_count_code_points),
		cmocka_unit_test(columns_in_any_order),
		cmocka_unit_test(lines_lose_their_ends),
		cmocka_unit_test(empty_source_has_one_line),
		cmocka_unit_test(many_lines_are_found),
		cmocka_unit_test(utf8_mark_is_taken_off),
		cmocka_unit_test(utf16_is_decoded),
		cmocka_unit_test(texts_lead_to_the_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
