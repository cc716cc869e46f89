/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JSON reader on strings at every offset in a block.
 */
#include "json_reading.h"

static void assert_byte(int before, unsigned char c)
{
	bool good = c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
	char text[sizeof(filler) + 16], value[4] = {'<', (char)c, '>', '\0'};
	struct reading reading;
	struct node *root;

	snprintf(text, sizeof(text), "[\"%.*s\",\"%s\"]", before, filler,
		 value);
	reading_init(&reading, text, strlen(text));
	root = read_all(&reading);
	assert_int_equal(root != NULL, good);
	assert_int_equal(reading.refusals, !good);
	if (root) {
		assert_int_equal(root->first->len, before);
		assert_memory_equal(root->first->str, filler, (size_t)before);
		assert_string_equal(root->last->str, value);
		assert_int_equal(root->last->start, before + 4);
	}
	reading_release(&reading);
}

/* Each byte is classified correctly, wherever it is in a block. */
static void each_byte_counts_at_every_offset(void **state)
{
	for (int before = 0; before < (int)sizeof(filler); before++)
		for (unsigned c = 1; c < 256; c++)
			assert_byte(before, (unsigned char)c);
}

/* A string that is not plain is between plain ones that are kept before and
 * after it. */
static void strings_are_kept_in_place_at_every_offset(void **state)
{
	static const char *const cases[][2] = {
		{"\\n\xc3\xa9\\u20ac", "\n\xc3\xa9\xe2\x82\xac"},
		{"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},
		{"\\\\\\\"", "\\\""},
	};
	char text[3 * sizeof(filler)];
	char value[2 * sizeof(filler)];

	for (size_t i = 0; i < ARRAY_SIZE(cases) * (sizeof(filler) - 1); i++) {
		int before = (int)(i / ARRAY_SIZE(cases));
		const char *const *one = cases[i % ARRAY_SIZE(cases)];
		struct reading reading;
		struct node *root;

		snprintf(text, sizeof(text), "[\"%.*s\",\"%s%s\",\"%s\"]",
			 before, filler, one[0], filler, "end");
		snprintf(value, sizeof(value), "%s%s", one[1], filler);
		reading_init(&reading, text, strlen(text));
		root = read_all(&reading);
		assert_non_null(root);
		assert_memory_equal(root->first->str, filler, (size_t)before);
		assert_int_equal(strlen(root->first->str), before);
		assert_string_equal(root->first->next->str, value);
		assert_string_equal(root->last->str, "end");
		reading_release(&reading);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_byte_counts_at_every_offset),
		cmocka_unit_test(strings_are_kept_in_place_at_every_offset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
