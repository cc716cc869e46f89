/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The language server's texts and messages: columns in UTF-16 and in bytes, the
 * three line ends, changes and how they move positions, URIs, and headers that
 * are complete, truncated or invalid.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>
#include <unistd.h>

#include "lint/lsp/protocol.h"

/* Four lines: "a🎉b", "", "é" and "x". The last one has no end. */
static const char sample[] = "a\xf0\x9f\x8e\x89"
			     "b\r\n\r\xc3\xa9\nx";

static const struct {
	uint32_t offset, line, utf16, utf8;
} places[] = {
	{0, 0, 0, 0}, {1, 0, 1, 1},  {5, 0, 3, 5},  {6, 0, 4, 6},  {8, 1, 0, 0},
	{9, 2, 0, 0}, {11, 2, 1, 2}, {12, 3, 0, 0}, {13, 3, 1, 1},
};

static void check_places(enum lsp_encoding encoding)
{
	struct lsp_text text;

	lsp_text_init(&text, encoding, sample, strlen(sample));
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		struct lsp_position p = lsp_position(&text, places[i].offset);
		uint32_t character =
			encoding == LSP_UTF8 ? places[i].utf8 : places[i].utf16;

		assert_int_equal(p.line, places[i].line);
		assert_int_equal(p.character, character);
		assert_int_equal(lsp_offset(&text, p), places[i].offset);
	}
	lsp_text_release(&text);
}

static void columns_count_code_units(void **state)
{
	(void)state;
	check_places(LSP_UTF16);
	check_places(LSP_UTF8);
}

static void invalid_positions_move_to_valid_ones(void **state)
{
	static const struct {
		struct lsp_position position;
		uint32_t offset;
	} cases[] = {
		{{0, 2}, 1}, /* between the two code units of a character */
		/* a position after the end of the line becomes that end */
		{{0, 99}, 6},
		{{1, 1}, 8},  /* an empty line, ended by CR alone */
		{{3, 9}, 13}, /* after the text */
		{{9, 0}, 13},
	};
	struct lsp_text text;

	(void)state;
	lsp_text_init(&text, LSP_UTF16, sample, strlen(sample));
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(lsp_offset(&text, cases[i].position),
				 cases[i].offset);
	/* A position between CR and LF becomes the one before CR. */
	assert_int_equal(lsp_position(&text, 7).character, 4);
	lsp_text_release(&text);
}

static void changes_move_places(void **state)
{
	/* In "0123456789", bytes 4 to 6 become "xyz", then byte 0 is
	 * removed. */
	static const struct lsp_change changes[] = {{4, 6, 3}, {0, 1, 0}};
	static const uint32_t moved[][2] = {{0, 0}, {1, 0}, {3, 2}, {4, 3},
					    {5, 3}, {6, 6}, {9, 9}};
	struct lsp_text text;

	(void)state;
	lsp_text_init(&text, LSP_UTF16, "0123456789", 10);
	lsp_text_replace(&text, 4, 6, "xyz", 3);
	lsp_text_replace(&text, 0, 1, "", 0);
	assert_string_equal(text.bytes.data, "123xyz6789");
	for (size_t i = 0; i < sizeof(moved) / sizeof(*moved); i++)
		assert_int_equal(lsp_shift(changes, 2, moved[i][0]),
				 moved[i][1]);
	lsp_text_replace(&text, 10, 10, "\na", 2);
	assert_int_equal(lsp_position(&text, 12).line, 1);
	lsp_text_release(&text);
}

/* --- messages ------------------------------------------------------------ */

static struct lsp_input input_of(const char *bytes)
{
	struct lsp_input input;
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], bytes, strlen(bytes)), strlen(bytes));
	close(ends[1]);
	lsp_input_init(&input, ends[0]);
	return input;
}

static void end_input(struct lsp_input *input)
{
	close(input->fd);
	lsp_input_release(input);
}

static void messages_follow_each_other(void **state)
{
	struct lsp_input input = input_of(
		"Content-Length: 2\r\n\r\n{}"
		"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\n"
		"content-length:  3 \r\n\r\n"
		"Content-Length:3\r\n\r\n[1]"
		"Content-Length: 0\r\n\r\n");
	const char *body;
	size_t len;

	(void)state;
	assert_int_equal(lsp_read(&input, &body, &len), 1);
	assert_memory_equal(body, "{}", len);
	assert_true(lsp_pending(&input, 0));
	/* A blank after the digits is an error. */
	assert_int_equal(lsp_read(&input, &body, &len), -1);
	end_input(&input);
	input = input_of("Content-Type: x\r\ncontent-length:  3\r\n\r\n[1]"
			 "Content-Length: 0\r\n\r\n");
	assert_int_equal(lsp_read(&input, &body, &len), 1);
	assert_memory_equal(body, "[1]", len);
	assert_int_equal(lsp_read(&input, &body, &len), 1);
	assert_int_equal(len, 0);
	assert_int_equal(lsp_read(&input, &body, &len), 0);
	end_input(&input);
}

static void an_invalid_message_ends_the_stream(void **state)
{
	static const char *const texts[] = {
		"{}",
		"\r\n\r\n",
		"Content-Type: x\r\n\r\n{}",
		"Content-Length: -1\r\n\r\n",
		"Content-Length: \r\n\r\n",
		"Content-Length: 1x\r\n\r\n{}",
		"Content-Length: 99999999999999999999\r\n\r\n",
		"Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}",
		"Content-Length: 2\r\nnothing\r\n\r\n{}",
		"Content-Length: 3\r\n\r\n{}",
		"Content-Length: 3\r\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct lsp_input input = input_of(texts[i]);
		const char *body;
		size_t len;

		assert_int_equal(lsp_read(&input, &body, &len), -1);
		end_input(&input);
	}
}

static void a_header_has_an_end(void **state)
{
	char text[LSP_HEADER_MAX + 100];
	struct lsp_input input;
	const char *body;
	size_t len;

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	input = input_of(text);
	assert_int_equal(lsp_read(&input, &body, &len), -1);
	end_input(&input);
}

/* --- URIs ----------------------------------------------------------------- */

static void uris_are_paths(void **state)
{
	static const char *const cases[][2] = {
		{"file:///a/b.yaml", "/a/b.yaml"},
		{"file:/a", "/a"},
		{"file://localhost/a", "/a"},
		{"file:///a%20%C3%BC/%25.yaml", "/a \xc3\xbc/%.yaml"},
		{"file:///a/./x/../b", "/a/b"},
		{"file:///a%2", "/a%2"},
		{"file:///a?q#f", "/a"},
		{"file://host/a", NULL},
		{"file:///a%00b", NULL},
		{"file:///", NULL},
		{"untitled:Untitled-1", NULL},
		{"", NULL},
	};
	struct buf out;

	(void)state;
	buf_init(&out);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		buf_reset(&out);
		assert_int_equal(lsp_uri_path(cases[i][0], &out),
				 cases[i][1] != NULL);
		if (cases[i][1])
			assert_string_equal(out.data, cases[i][1]);
	}
	buf_reset(&out);
	lsp_path_uri("/a \xc3\xbc/%.yaml", &out);
	assert_string_equal(out.data, "file:///a%20%C3%BC/%25.yaml");
	buf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_count_code_units),
		cmocka_unit_test(invalid_positions_move_to_valid_ones),
		cmocka_unit_test(changes_move_places),
		cmocka_unit_test(messages_follow_each_other),
		cmocka_unit_test(an_invalid_message_ends_the_stream),
		cmocka_unit_test(a_header_has_an_end),
		cmocka_unit_test(uris_are_paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
