/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fix that removes an entry and adds its value under another key next to it
 * only renames the key: its comment, quotes and place stay. Every result is
 * read again.
 */
#include "splicing.h"

#define RENAME(from, to, value)                                                \
	"[{set: [m, " to "], value: " value "}, {remove: [m, " from            \
	"], and: true}]"

static void keys_are_renamed_in_place(void **state)
{
	static const struct splice_case cases[] = {
		{"m:\n  a: 1 # why\n  b: 2\n", RENAME("a", "c", "1"),
		 "m:\n  c: 1 # why\n  b: 2\n", NULL},
		{"m:\n  # why\n  a: '1'\n", RENAME("a", "c/d", "'1'"),
		 "m:\n  # why\n  c/d: '1'\n", NULL},
		{"m:\n  \"a\": 1\n  'b': 2\n", RENAME("a", "c", "1"),
		 "m:\n  \"c\": 1\n  'b': 2\n", NULL},
		{"m:\n  'b': 2\n", RENAME("b", "c", "2"), "m:\n  'c': 2\n",
		 NULL},
		{"m:\n  'b': 2\n", RENAME("b", "\"it's\"", "2"),
		 "m:\n  \"it's\": 2\n", NULL},
		{"m:\n  a: 1\n", RENAME("a", "'1'", "1"), "m:\n  \"1\": 1\n",
		 NULL},
		{"m: {a: 1, # why\n  b: 2}\n", RENAME("a", "c", "1"),
		 "m: {c: 1, # why\n  b: 2}\n", NULL},
		{"{\"m\": {\"a\":1}}", RENAME("a", "c", "1"),
		 "{\"m\": {\"c\":1}}", NULL},
		/* whole values, with their comments */
		{"m:\n  a:\n  - x # y\n", RENAME("a", "c", "[x]"),
		 "m:\n  c:\n  - x # y\n", NULL},
		{"m:\n  a: &x 1\nn: *x\n", RENAME("a", "c", "1"),
		 "m:\n  c: &x 1\nn: *x\n", NULL},
		{"m:\n  a:\n", RENAME("a", "c", "null"), "m:\n  c:\n", NULL},
		/* another value, another map, or another fix */
		{"m:\n  a: 1 # why\n  b: 2\n", RENAME("a", "c", "3"),
		 "m:\n  b: 2\n  c: 3\n", NULL},
		{"m:\n  a: 1 # why\n  b: 2\n", RENAME("a", "b", "1"),
		 "m:\n  b: 1\n", NULL},
		{"m:\n  a: 1\n  b: 2\n",
		 "[{set: [c], value: 1}, {remove: [m, a], and: true}]",
		 "m:\n  b: 2\nc: 1\n", NULL},
		{"m:\n  a: true # why\n  b: 2\n",
		 "[{set: [m, c], value: true}, {remove: [m, a]}]",
		 "m:\n  b: 2\n  c: true\n", NULL},
		/* two renames at once, each with its own comment */
		{"m:\n  a: 1 # 1\n  b: 1 # 2\n",
		 "[{set: [m, c], value: 1}, {remove: [m, a], and: true}, "
		 "{set: [m, d], value: 1}, {remove: [m, b], and: true}]",
		 "m:\n  c: 1 # 1\n  d: 1 # 2\n", NULL},
		{"m:\n  a: 1\n  b: 2 # 2\n",
		 "[{set: [m, c], value: 1}, {remove: [m, a], and: true}, "
		 "{remove: [m, b]}]",
		 "m:\n  c: 1\n", NULL},
		{"m:\n  <<: {x: 1}\n  a: 1\n", RENAME("a", "c", "1"), NULL,
		 "merge"},
		{"m:\n  !!str a: 1\n", RENAME("a", "c", "1"), NULL, "merge"},
	};

	(void)state;
	run_cases(cases, ARRAY_SIZE(cases));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_are_renamed_in_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
