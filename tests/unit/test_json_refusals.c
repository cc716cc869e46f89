/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rejections of the JSON reader and their positions, and that it stays within
 * the given range of bytes.
 */
#include "json_reading.h"

/* --- rejected texts ------------------------------------------------------- */

#define ITEM	    "expected ',' or ']' after an item of the list"
#define PAIR	    "expected ',' or '}' after a value of the object"
#define WORD	    "unknown word: strings need double quotes"
#define DIGIT	    "expected a digit in a number"
#define HEX	    "expected four hexadecimal digits after '\\u'"
#define OPEN_MAP    "object is not closed before the text ends"
#define OPEN_SEQ    "list is not closed before the text ends"
#define OPEN_STRING "string is not closed before the text ends"
#define CONTROL	    "control character in a string: use an escape"
#define BYTES	    "invalid UTF-8 in a string"

static const struct {
	const char *text;
	size_t len;
	uint32_t start, end;
	const char *message;
} refusals[] = {
	{SIZED("{"), 0, 1, OPEN_MAP},
	{SIZED(" { "), 1, 2, OPEN_MAP},
	{SIZED("["), 0, 1, OPEN_SEQ},
	{SIZED("[1"), 0, 1, OPEN_SEQ},
	{SIZED("[1,"), 0, 1, OPEN_SEQ},
	{SIZED("{\"a\""), 0, 1, OPEN_MAP},
	{SIZED("{\"a\":"), 0, 1, OPEN_MAP},
	{SIZED("{\"a\":1"), 0, 1, OPEN_MAP},
	{SIZED("{\"a\":1,"), 0, 1, OPEN_MAP},
	{SIZED("{\"a\":[1,{\"b\":2}"), 5, 6, OPEN_SEQ},
	{SIZED("[1 2]"), 3, 4, ITEM},
	{SIZED("[1}"), 2, 3, ITEM},
	{SIZED("[1:2]"), 2, 3, ITEM},
	{SIZED("[[] []]"), 4, 5, ITEM},
	{SIZED("{\"a\":1 \"b\":2}"), 7, 8, PAIR},
	{SIZED("{\"a\":1]"), 6, 7, PAIR},
	{SIZED("{\"a\":{}\n\xc3\xa9}"), 8, 10, PAIR},
	{SIZED("[1,]"), 2, 3, "comma after the last value"},
	{SIZED("{\"a\":1 , }"), 7, 8, "comma after the last value"},
	{SIZED("[,1]"), 1, 2, "expected a value"},
	{SIZED("[1,,2]"), 3, 4, "expected a value"},
	{SIZED("]"), 0, 1, "expected a value"},
	{SIZED("}"), 0, 1, "expected a value"},
	{SIZED(","), 0, 1, "expected a value"},
	{SIZED("'a'"), 0, 1, "expected a value"},
	{SIZED("[+1]"), 1, 2, "expected a value"},
	{SIZED("[.5]"), 1, 2, "expected a value"},
	{SIZED("\0"), 0, 1, "expected a value"},
	{SIZED("[1,\0]"), 3, 4, "expected a value"},
	{SIZED("[\xe2\x82\xac]"), 1, 4, "expected a value"},
	{SIZED("[\xff\xff]"), 1, 2, "expected a value"},
	{SIZED("/* c */ 1"), 0, 1, "expected a value"},
	{SIZED("{,}"), 1, 2, "expected a key in double quotes"},
	{SIZED("{a:1}"), 1, 2, "expected a key in double quotes"},
	{SIZED("{1:1}"), 1, 2, "expected a key in double quotes"},
	{SIZED("{'a':1}"), 1, 2, "expected a key in double quotes"},
	{SIZED("{\"a\":1,,}"), 7, 8, "expected a key in double quotes"},
	{SIZED("{]"), 1, 2, "expected a key in double quotes"},
	{SIZED("{\"a\" 1}"), 5, 6, "expected ':' after a key"},
	{SIZED("{\"a\"}"), 4, 5, "expected ':' after a key"},
	{SIZED("{\"a\",1}"), 4, 5, "expected ':' after a key"},
	{SIZED("{\"a\":}"), 5, 6, "expected a value"},
	{SIZED("{\"a\"::1}"), 5, 6, "expected a value"},
	{SIZED("tru"), 0, 3, WORD},
	{SIZED("[nul]"), 1, 4, WORD},
	{SIZED("[truefalse]"), 1, 10, WORD},
	{SIZED("True"), 0, 4, WORD},
	{SIZED("NaN"), 0, 3, WORD},
	{SIZED("Infinity"), 0, 8, WORD},
	{SIZED("[abc]"), 1, 4, WORD},
	{SIZED("-"), 0, 1, DIGIT},
	{SIZED("[-]"), 1, 2, DIGIT},
	{SIZED("[-a]"), 1, 2, DIGIT},
	{SIZED("[-.5]"), 1, 2, DIGIT},
	{SIZED("[1.]"), 1, 3, DIGIT},
	{SIZED("1."), 0, 2, DIGIT},
	{SIZED("[1.e1]"), 1, 3, DIGIT},
	{SIZED("[1e]"), 1, 3, DIGIT},
	{SIZED("[1e+]"), 1, 4, DIGIT},
	{SIZED("1e-"), 0, 3, DIGIT},
	{SIZED("[01]"), 1, 3, "number with a leading zero"},
	{SIZED("[-00]"), 1, 4, "number with a leading zero"},
	{SIZED("[0x10]"), 2, 3, ITEM},
	{SIZED("[1_000]"), 2, 3, ITEM},
	{SIZED("[1e400]"), 1, 6, "number is too large"},
	{SIZED("-1.8e308"), 0, 8, "number is too large"},
	{SIZED("\""), 0, 1, OPEN_STRING},
	{SIZED("\"abcdefgh"), 0, 9, OPEN_STRING},
	{SIZED("[\"a\\\"]"), 1, 6, OPEN_STRING},
	{SIZED("\"\\"), 0, 2, OPEN_STRING},
	{SIZED("{\"a"), 1, 3, OPEN_STRING},
	{SIZED("[\"ab\n\"]"), 1, 4,
	 "string is not closed before the line ends"},
	{SIZED("[\"ab\r\n]"), 1, 4,
	 "string is not closed before the line ends"},
	{SIZED("\"a\tb\""), 2, 3, CONTROL},
	{SIZED("\"\0\""), 1, 2, CONTROL},
	{SIZED("\"abcdefgh\x01\""), 9, 10, CONTROL},
	{SIZED("\"\\x41\""), 1, 3, "unknown escape in a string"},
	{SIZED("\"\\'\""), 1, 3, "unknown escape in a string"},
	{SIZED("\"\\\0\""), 1, 3, "unknown escape in a string"},
	{SIZED("\"\\U0041\""), 1, 3, "unknown escape in a string"},
	{SIZED("\"\\\xf0\x9f\x98\x80\""), 1, 6, "unknown escape in a string"},
	{SIZED("\"\\u12\""), 1, 3, HEX},
	{SIZED("\"\\u12g4\""), 1, 3, HEX},
	{SIZED("\"\\u"), 1, 3, HEX},
	{SIZED("\"\\u123"), 1, 3, HEX},
	{SIZED("\"\\u+123\""), 1, 3, HEX},
	{SIZED("\"\\ud800\\u\""), 7, 9, HEX},
	{SIZED("\"a\x80\""), 2, 3, BYTES},
	{SIZED("\"\xc0\xaf\""), 1, 2, BYTES},
	{SIZED("\"\xc3\""), 1, 2, BYTES},
	{SIZED("\"\xc3"), 1, 2, BYTES},
	{SIZED("\"\xe2\x82\""), 1, 2, BYTES},
	{SIZED("\"\xed\xa0\x80\""), 1, 2, BYTES},
	{SIZED("\"\xf4\x90\x80\x80\""), 1, 2, BYTES},
	{SIZED("{\"\xff\":1}"), 2, 3, BYTES},
};

static void invalid_json_is_rejected_with_a_position(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(refusals); i++) {
		struct reading reading;

		reading_init(&reading, refusals[i].text, refusals[i].len);
		if (read_all(&reading))
			fail_msg("%s was accepted", refusals[i].text);
		assert_int_equal(reading.refusals, 1);
		if (strcmp(reading.first.text, refusals[i].message) ||
		    reading.first.start != refusals[i].start ||
		    reading.first.end != refusals[i].end)
			fail_msg("%s: %u-%u %s", refusals[i].text,
				 reading.first.start, reading.first.end,
				 reading.first.text);
		reading_release(&reading);
	}
}

/* An object that is truncated at any byte is rejected once, at a position
 * inside the rest. */
static void a_cut_text_is_refused_once(void **state)
{
	static const char text[] =
		"{\"a\\n\\u00e9\": [1.5e3, -0, \"caf\xc3\xa9\", null], "
		"\"b\": {\"c\": true, \"d\": [[], {}]}}";

	for (size_t len = 1; len < sizeof(text) - 1; len++) {
		struct reading reading;

		reading_init(&reading, text, len);
		assert_null(read_all(&reading));
		assert_int_equal(reading.refusals, 1);
		assert_true(reading.first.start <= reading.first.end);
		assert_true(reading.first.end <= len);
		reading_release(&reading);
	}
}

/* --- ranges --------------------------------------------------------------- */

static void values_in_a_row_are_read_one_by_one(void **state)
{
	static const struct {
		const char *json;
		uint32_t start, used;
	} cases[] = {
		{"{\"a\":1}", 1, 8}, {"[2]", 9, 12},   {"3", 13, 14},
		{"\"4\"", 14, 17},   {"true", 17, 21},
	};
	struct reading reading;
	uint32_t at = 0;

	reading_init(&reading, SIZED(" {\"a\":1}\n[2] 3\"4\"true \n"));
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct node *root = json_read(
			&reading.loader, at, (uint32_t)reading.source.len, &at);

		assert_value(root, cases[i].json);
		assert_int_equal(root->start, cases[i].start);
		assert_int_equal(at, cases[i].used);
		assert_int_equal(root->end, at);
	}
	assert_null(json_read(&reading.loader, at, (uint32_t)reading.source.len,
			      &at));
	assert_int_equal(reading.refusals, 0);
	assert_int_equal(at, reading.source.len);
	reading_release(&reading);
}

/* Bytes outside of start..end do not exist, but spans are offsets in the
 * text. */
static void bytes_outside_of_the_range_do_not_exist(void **state)
{
	struct reading reading;
	struct node *root;
	uint32_t used;

	reading_init(&reading, SIZED("xx[123]45\"a\""));
	root = json_read(&reading.loader, 3, 5, &used);
	assert_value(root, "12");
	assert_int_equal(root->start, 3);
	assert_int_equal(used, 5);
	assert_null(json_read(&reading.loader, 2, 6, &used));
	assert_int_equal(reading.first.start, 2);
	assert_null(json_read(&reading.loader, 9, 11, &used));
	assert_int_equal(reading.refusals, 2);
	assert_null(json_read(&reading.loader, 4, 4, &used));
	assert_int_equal(reading.refusals, 2);
	assert_int_equal(used, 4);
	reading_release(&reading);
}

/* A caller that only needs the value may omit the issues. */
static void issues_may_be_dropped(void **state)
{
	struct reading reading;

	reading_init(&reading, SIZED("{\"a\":1,\"a\":2}x"));
	reading.loader.issue = NULL;
	assert_value(read_all(&reading), "{\"a\":2}");
	assert_null(json_read(&reading.loader, 13, 14, &reading.used));
	reading_release(&reading);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(invalid_json_is_rejected_with_a_position),
		cmocka_unit_test(a_cut_text_is_refused_once),
		cmocka_unit_test(values_in_a_row_are_read_one_by_one),
		cmocka_unit_test(bytes_outside_of_the_range_do_not_exist),
		cmocka_unit_test(issues_may_be_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
