/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fast YAML reader: texts that it must read, with the tree from libyaml's
 * events, and texts that it must leave to libyaml. Far more texts are in
 * tests/check/yaml-fast.sh.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/tools/yaml_compare.h"

static const struct load_limits limits = {
	.bytes = 1 << 16,
	.depth = 5,
	.nodes = 12,
	.directives = 4,
	.flow_work = 20,
};

static enum yaml_compare read_both(const char *text,
				   const struct load_limits *given)
{
	struct arena arena = ARENA_INIT;
	size_t len = strlen(text);
	/* Not NUL-terminated, so that a sanitizer detects a read past the
	 * end. */
	char *exact = malloc(len ? len : 1);
	enum yaml_compare result;

	memcpy(exact, text, len);
	result = compare_readers(&arena, exact, len, given);
	free(exact);
	arena_release(&arena);
	return result;
}

static void expect(const char *const *texts, const struct load_limits *given,
		   enum yaml_compare wanted)
{
	for (; *texts; texts++)
		if (read_both(*texts, given) != wanted)
			fail_msg("%s:\n%s",
				 wanted == COMPARE_SAME ? "not read fast"
							: "read fast",
				 *texts);
}

static void takes_common_texts(void **state)
{
	static const char *const texts[] = {
		"a: b\n",
		"a: b",
		"---\na: b\n",
		"# x\n\n--- # y\n# z\na: b\n",
		"a:\n- b\n- c\nd: e\n",
		"a:\n  - b: c\n    d: e\n  -\n    f: g\n  -\n  - - h\n    - i\n",
		"- a:\n- b\n-\n",
		"a:\nb: # x\nc:\n  d\ne:",
		"a: 1\nb: 0x1f\nc: -1.50\nd: true\ne: ~\nf: 007\ng: 1e3\n",
		"a: n\n\"true\": 'x'\nname: null\n",
		"a: http://b:80/c#d # e\n",
		"a: 'it''s'\nb: \"q\\\"\\n\\t\\\\\"\n\"c d\": \"\"\n",
		"a: \"b\n  c\n\n  d \\n \n e\"\nb: 'f\n g'\n",
		"a : b\n'c' : d\n",
		"a: [1, \"b\", {c: d, e: []}, {}] # f\n",
		"a: {\n  b: c, # d\n  \"e\":f,\n  g: [h\n , i\n]}\n",
		"[{a: b}]\n",
		"a: |\n  b\n   c\n\n  d\n\n\ne: |-\n  f\ng: |+ # x\n  h\n\n",
		"a: >\n  b\n  c\n\n   d\n  e\n\nf: >-\n\n  g\n",
		"- |\n # b\n# c\n",
		"a: \xc3\xa9\xf0\x9f\x98\x80 # \xe2\x80\x94\n",
		NULL,
	};

	expect(texts, &load_limits_default, COMPARE_SAME);
}

static void reads_scalars_with_anchors(void **state)
{
	static const char *const texts[] = {
		"a: &b c\n",
		"a: &b  'c d'  # e\nf: *b\n",
		"a: &b-1_C \"c\"\nd:\n- *b-1_C # e\n- *b-1_C\n",
		"a: &b 1\nc: *b\nd: &b x\ne: *b\nf: {g: h}\n",
		"- &a ~\n- b: *a\n  c: &d true\n- *d\n",
		"a:\n  &b c\nd:\n  *b\n",
		NULL,
	};

	expect(texts, &load_limits_default, COMPARE_SAME);
}

static void leaves_other_anchors(void **state)
{
	static const char *const texts[] = {
		"a: &b\n  c: d\n",
		"a: &b\n",
		"a: &b [c]\n",
		"a: &b {c: d}\ne: *b\n",
		"a: &b |\n  c\n",
		"a: &b !!str c\n",
		"a: !!str &b c\n",
		"a: & c\n",
		"a: &b *b\n",
		"a: &b c\nd: *e\n",
		"a: *b\nc: &b d\n",
		"a: &b c\n  d\n",
		"a: &b c\nd: *b\n  e\n",
		"a: &b c\n*b : d\n",
		"a: &b c\nd: *b: e\n",
		"a: &b c\nd: *b e\n",
		"a: &b c\nd: *b,\n",
		"a: &b c\nd: *b#\n",
		"a: &b c\nd: [*b]\n",
		"a: &b. c\n",
		"&a b: c\n",
		"- &a b: c\n",
		"&a b\n",
		"<<: &a b\n",
		"a: *\n",
		NULL,
	};

	expect(texts, &load_limits_default, COMPARE_FALL_BACK);
}

/* Aliases and their copies are values; go-yaml limits their number. */
static void counts_the_values_that_aliases_make(void **state)
{
	char text[2048] = "- &a b\n";

	expect((const char *const[]){"[1, 2, 3, 4, 5, 6, 7, 8]\n", NULL},
	       &limits, COMPARE_SAME);
	expect((const char *const[]){"- &a b\n- *a\n- *a\n- *a\n- *a\n- *a\n",
				     NULL},
	       &limits, COMPARE_SAME);
	expect(
		(const char *const[]){
			"- &a b\n- *a\n- *a\n- *a\n- *a\n- *a\n- *a\n", NULL},
		&limits, COMPARE_FALL_BACK);
	for (int i = 0; i < 100; i++)
		strcat(text, "- *a\n");
	assert_int_equal(read_both(text, &load_limits_default), COMPARE_SAME);
	strcat(text, "- *a\n");
	assert_int_equal(read_both(text, &load_limits_default),
			 COMPARE_FALL_BACK);
}

static void leaves_other_structure(void **state)
{
	static const char *const texts[] = {
		"",
		"# x\n",
		"a\n",
		"a: b\n---\nc: d\n",
		"a: b\n...\n",
		"a: b\n... : c\n",
		"--- : b\n",
		"--- a: b\n",
		"%YAML 1.1\n---\na: b\n",
		"a: *b\n",
		"a: !c d\n",
		"<<: {a: b}\n",
		"? a\n: b\n",
		"a: b\na: c\n",
		"a: {b: c, b: d}\n",
		"a: b\n c: d\n",
		"  a: b\nc: d\n",
		"a:\n  - b\n c: d\n",
		"a:\n  - b\n- c\n",
		"a: b\n- c\n",
		"- a\nb: c\n",
		"a: - b\n",
		"a: b: c\n",
		"a: b\n  c\n",
		"a: b:\n",
		"[a]: b\n",
		"{a: b}\nc: d\n",
		NULL,
	};

	expect(texts, &load_limits_default, COMPARE_FALL_BACK);
}

static void leaves_other_scalars(void **state)
{
	static const char *const texts[] = {
		"1: a\n",
		"true: a\n",
		"a: .inf\n",
		"\ta: b\n",
		"a:\tb\n",
		"a: b\tc\n",
		"a: b\r\nc: d\r\n",
		"a: \"\\x41\"\n",
		"a: \"\\/\"\n",
		"a: \"b\n",
		"a: \"b\n---\nc\"\n",
		"\"a\n b\": c\n",
		"a: \"b\"c\n",
		"a: \"b\"#c\n",
		"a: @b\n",
		"a: %b\n",
		"a: ?b\n",
		"a: -\n",
		"a: |2\n   b\n",
		"a: |\nb: c\n",
		"a: |\n   \n  b\n",
		"a: |\n\tb\n",
		"a: |\n  \tb\n",
		"a: [b, c\n",
		"a: [b c: d]\n",
		"a: [b,, c]\n",
		"a: [b,]\n",
		"a: {b}\n",
		"a: {b: }\n",
		"a: {b:}\n",
		"a: [b?]\n",
		"a: [b:]\n",
		"a: [b:, c]\n",
		"a: [b\n--- c]\n",
		"a: [b,\n... ]\n",
		"a: '\n... b'\n",
		"a: [b\n  c]\n",
		"a: [b] c\n",
		"\xef\xbb\xbf"
		"a: b\n",
		"a: \xc3\n",
		"a: \xc2\x85\n",
		"a: \xe2\x80\xa8\n",
		"a: \x01\n",
		"# \x7f\na: b\n",
		NULL,
	};

	expect(texts, &load_limits_default, COMPARE_FALL_BACK);
}

static void refuses_what_exceeds_the_limits(void **state)
{
	static const char *const within[] = {
		"a:\n  b:\n    c:\n      d:\n        e: f\n",
		"[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]\n",
		"a: [[[b]]]\n",
		NULL,
	};
	static const char *const beyond[] = {
		"a:\n  b:\n    c:\n      d:\n        e:\n          f: g\n",
		"- - - - - - a\n",
		"a: [[[[[b]]]]]\n",
		"[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]\n",
		"a: [[[b, c, d, e, f, g, h]]]\n",
		NULL,
	};

	expect(within, &limits, COMPARE_SAME);
	expect(beyond, &limits, COMPARE_FALL_BACK);
}

/* Maps above 16 keys have an index in both trees. */
static void indexes_large_maps(void **state)
{
	char text[64 * 8];
	size_t len = 0;

	for (int i = 0; i < 64; i++) {
		len += (size_t)sprintf(text + len, "k%d: v\n", i);
		assert_int_equal(read_both(text, &load_limits_default),
				 COMPARE_SAME);
	}
	memcpy(text + len - 7, "k1", 2);
	assert_int_equal(read_both(text, &load_limits_default),
			 COMPARE_FALL_BACK);
}

static void compares_all_fields(void **state)
{
	static const struct node first = {
		.type = NODE_STRING, .len = 1, .str = "a", .end = 1};
	struct node other[9];

	for (size_t i = 0; i < 9; i++)
		other[i] = first;
	other[0].type = NODE_INT;
	other[1].flags = NODE_QUOTED;
	other[2].len = 0;
	other[3].str = "b";
	other[4].start = 1;
	other[5].end = 2;
	other[6].key_end = 1;
	other[7].key = "";
	other[8].index = 1;
	assert_null(compare_trees(&first, &first));
	for (size_t i = 0; i < 9; i++)
		assert_ptr_equal(compare_trees(&first, &other[i]), &first);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_common_texts),
		cmocka_unit_test(reads_scalars_with_anchors),
		cmocka_unit_test(leaves_other_anchors),
		cmocka_unit_test(counts_the_values_that_aliases_make),
		cmocka_unit_test(leaves_other_structure),
		cmocka_unit_test(leaves_other_scalars),
		cmocka_unit_test(refuses_what_exceeds_the_limits),
		cmocka_unit_test(indexes_large_maps),
		cmocka_unit_test(compares_all_fields),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
