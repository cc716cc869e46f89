/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Comparisons, edit distance, the published FNV-1a values, and UTF-8 against
 * the table of well-formed sequences of the Unicode standard.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"

static void null_is_handled(void **state)
{
	assert_true(text_eq(NULL, NULL));
	assert_false(text_eq(NULL, ""));
	assert_false(text_eq("", NULL));
	assert_false(text_starts(NULL, ""));
	assert_false(text_ends(NULL, ""));
	assert_false(text_contains(NULL, ""));
	assert_false(text_contains_ci(NULL, ""));
	assert_null(text_nearest(NULL, (const char *[]){"a"}, 1));
}

static void parts_are_found(void **state)
{
	assert_true(text_eq("gpu", "gpu"));
	assert_false(text_eq("gpu", "GPU"));
	assert_true(text_starts("nvidia.com/gpu", "nvidia.com/"));
	assert_false(text_starts("nvidia", "nvidia.com/"));
	assert_false(text_starts("xnvidia.com/", "nvidia.com/"));
	assert_true(text_ends("nvidia.com/gpu", "/gpu"));
	assert_false(text_ends("gpu", "/gpu"));
	assert_false(text_ends("a/gpu.shared", "/gpu"));
	assert_true(text_contains("a-train-b", "train"));
	assert_false(text_contains("a-Train-b", "train"));
	assert_true(text_contains_ci("a-Train-b", "tRAIN"));
	assert_false(text_contains_ci("a-Trai", "train"));
}

static void distances_count_edits(void **state)
{
	static const struct {
		const char *a, *b;
		unsigned limit, distance;
	} rows[] = {
		{"", "", 3, 0},
		{"a", "a", 0, 0},
		{"a", "b", 0, 1},
		{"", "abc", 3, 3},
		{"", "abcd", 3, 4},
		{"kitten", "sitting", 3, 3},
		{"kitten", "sitting", 2, 3},
		{"replicas", "repilcas", 3, 2},
		{"flaw", "lawn", 3, 2},
		{"shm", "shm-missing", 3, 4},
		{"saturday", "sunday", 9, 3},
		{"abc", "xyz", 9, 3},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_int_equal(
			text_distance(rows[i].a, rows[i].b, rows[i].limit),
			rows[i].distance);
		assert_int_equal(
			text_distance(rows[i].b, rows[i].a, rows[i].limit),
			rows[i].distance);
	}
}

static void long_words_have_a_distance(void **state)
{
	char a[3000], b[3000];

	memset(a, 'a', sizeof(a));
	memcpy(b, a, sizeof(b));
	a[2999] = b[2999] = '\0';
	b[1500] = 'b';
	assert_int_equal(text_distance(a, b, 3), 1);
	memset(b, 'b', 2999);
	assert_int_equal(text_distance(a, b, 3), 4);
}

static void the_nearest_name_is_found(void **state)
{
	static const char *const names[] = {"shm-missing", "gpu-count", "all",
					    "gpu-limits"};

	assert_string_equal(text_nearest("shm-mising", names, 4),
			    "shm-missing");
	assert_string_equal(text_nearest("gpu-coutn", names, 4), "gpu-count");
	assert_string_equal(text_nearest("al", names, 4), "all");
	assert_null(text_nearest("xyz", names, 4));
	assert_null(text_nearest("a", names, 4));
	assert_null(text_nearest("", names, 4));
	assert_null(text_nearest("network-policy", names, 4));
	assert_null(text_nearest("all", names, 0));
}

static void words_of_lists_are_whole(void **state)
{
	assert_true(text_lists("v1alpha2 v1beta1 v1", "v1"));
	assert_true(text_lists(" a,  b ,c", "c"));
	assert_true(text_lists("name image", "name"));
	assert_false(text_lists("v1alpha2 v1beta1", "v1"));
	assert_false(text_lists("name image", "name image"));
	assert_false(text_lists("name image", " name"));
	assert_false(text_lists("name image", ""));
	assert_false(text_lists(" , ", ""));
	assert_false(text_lists("", "a"));
}

static void hashes_are_fnv_1a(void **state)
{
	assert_true(text_hash("", 0, 0) == 0xcbf29ce484222325u);
	assert_true(text_hash("a", 1, 0) == 0xaf63dc4c8601ec8cu);
	assert_true(text_hash("foobar", 6, 0) == 0x85944171f73967e8u);
	assert_true(text_hash("bar", 3, text_hash("foo", 3, 0)) ==
		    text_hash("foobar", 6, 0));
}

static void utf8_sequences_are_checked(void **state)
{
	static const struct {
		const char *bytes;
		size_t n, length;
	} rows[] = {
		{"", 0, 0},
		{"a", 1, 1},
		{"\0", 1, 1},
		{"\x7f", 1, 1},
		{"\x80", 1, 0},
		{"\xc1\xbf", 2, 0},
		{"\xc2\x80", 2, 2},
		{"\xdf\xbf", 2, 2},
		{"\xc2", 1, 0},
		{"\xc2\x41", 2, 0},
		{"\xe0\x9f\xbf", 3, 0},
		{"\xe0\xa0\x80", 3, 3},
		{"\xed\x9f\xbf", 3, 3},
		{"\xed\xa0\x80", 3, 0},
		{"\xee\x80\x80", 3, 3},
		{"\xef\xbf\xbf", 3, 3},
		{"\xef\xbf", 2, 0},
		{"\xef\xbf\x41", 3, 0},
		{"\xf0\x8f\xbf\xbf", 4, 0},
		{"\xf0\x90\x80\x80", 4, 4},
		{"\xf4\x8f\xbf\xbf", 4, 4},
		{"\xf4\x90\x80\x80", 4, 0},
		{"\xf5\x80\x80\x80", 4, 0},
		{"\xf0\x90\x80", 3, 0},
		{"\xff", 1, 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_int_equal(utf8_length(rows[i].bytes, rows[i].n),
				 rows[i].length);
}

static void utf8_characters_are_counted(void **state)
{
	static const char text[] = "a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80z";
	char many[sizeof(text) * 40];
	size_t len = 0;

	assert_int_equal(utf8_count("", 0), 0);
	assert_int_equal(utf8_count("abcdefghijk", 11), 11);
	for (int i = 1; i <= 40; i++) {
		memcpy(many + len, text, sizeof(text) - 1);
		len += sizeof(text) - 1;
		assert_int_equal(utf8_count(many, len), 5 * i);
	}
}

static void names_of_labels_and_subdomains_are_checked(void **state)
{
	static const struct {
		const char *text;
		bool label, subdomain;
	} rows[] = {
		{"a", true, true},	    {"team-1", true, true},
		{"0", true, true},	    {"a.b", false, true},
		{"a-b.c-d", false, true},   {"", false, false},
		{"-a", false, false},	    {"a-", false, false},
		{".", false, false},	    {"..", false, false},
		{"a..b", false, false},	    {".a", false, false},
		{"a.", false, false},	    {"a.-b", false, false},
		{"A", false, false},	    {"a_b", false, false},
		{"a/b", false, false},	    {"a?b", false, false},
		{"\xc3\xa9", false, false},
	};
	char many[255];

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const char *text = rows[i].text;

		if (text_is_label(text, strlen(text)) != rows[i].label ||
		    text_is_subdomain(text, strlen(text)) != rows[i].subdomain)
			fail_msg("%s", text);
	}
	memset(many, 'a', sizeof(many));
	assert_true(text_is_label(many, 63));
	assert_false(text_is_label(many, 64));
	assert_true(text_is_subdomain(many, 253));
	assert_false(text_is_subdomain(many, 254));
}

static void versions_are_read(void **state)
{
	static const struct {
		const char *text;
		int major, minor;
		const char *rest;
	} rows[] = {
		{"1.37", 1, 37, ""},
		{"v0.9.4-rc.1", 0, 9, ".4-rc.1"},
		{"1.4-gke.3", 1, 4, "-gke.3"},
		{"1", 1, -1, ""},
		{"v1.x", 1, -1, ".x"},
		{"", -1, -1, ""},
		{"latest", -1, -1, "latest"},
		{"-1.2", -1, -1, "-1.2"},
		{"1.9999999999", 1, -1, ".9999999999"},
	};
	int found[2];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const char *rest = text_version(rows[i].text, found, 2);

		assert_int_equal(found[0], rows[i].major);
		assert_int_equal(found[1], rows[i].minor);
		assert_string_equal(rest, rows[i].rest);
	}
}

static void sorted_texts_are_found(void **state)
{
	const char *texts[] = {"b", "ab", "", "B", "a"};
	static const char *const sorted[] = {"", "B", "a", "ab", "b"};

	(void)state;
	texts_sort(texts, 5);
	for (size_t i = 0; i < 5; i++) {
		assert_string_equal(texts[i], sorted[i]);
		assert_true(texts_have(sorted, 5, sorted[i]));
	}
	assert_false(texts_have(sorted, 5, "aa"));
	assert_false(texts_have(sorted, 5, "c"));
	texts_sort(NULL, 0);
	assert_false(texts_have(NULL, 0, ""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(null_is_handled),
		cmocka_unit_test(parts_are_found),
		cmocka_unit_test(distances_count_edits),
		cmocka_unit_test(long_words_have_a_distance),
		cmocka_unit_test(the_nearest_name_is_found),
		cmocka_unit_test(sorted_texts_are_found),
		cmocka_unit_test(versions_are_read),
		cmocka_unit_test(words_of_lists_are_whole),
		cmocka_unit_test(hashes_are_fnv_1a),
		cmocka_unit_test(utf8_sequences_are_checked),
		cmocka_unit_test(utf8_characters_are_counted),
		cmocka_unit_test(names_of_labels_and_subdomains_are_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
