/* SPDX-License-Identifier: Apache-2.0 */
/* New entries that are inserted above others (metadata before spec), and cases
 * in which they are not. */
#include "splicing.h"

static void metadata_goes_before_the_spec(void **state)
{
	static const struct splice_case cases[] = {
		{"t:\n  spec:\n    a: 1\n",
		 "[{set: [t, metadata, x], value: 1}, {set: [t, k], value: 2}]",
		 "t:\n  metadata:\n    x: 1\n  spec:\n    a: 1\n  k: 2\n",
		 NULL},
		{"t:\r\n  spec: {}", "[{set: [t, metadata, x], value: 1}]",
		 "t:\r\n  metadata:\r\n    x: 1\r\n  spec: {}", NULL},
		{"l:\n- spec: 1 # a\n", "[{set: [l, 0, metadata], value: {}}]",
		 "l:\n- metadata: {}\n  spec: 1 # a\n", NULL},
		{"spec: 1\n", "[{set: [metadata, x], value: 1}]",
		 "metadata:\n  x: 1\nspec: 1\n", NULL},
		{"--- # a\na: 1\nb: |+\n  t\n\nspec: 1\n",
		 "[{set: [metadata, x], value: 1}, {remove: [a]}]",
		 "--- # a\nb: |+\n  t\n\nmetadata:\n  x: 1\nspec: 1\n", NULL},
		{"l:\n- a: 1\n  spec: 1\n",
		 "[{set: [l, 0, metadata], value: {}}, {remove: [l, 0, a]}, "
		 "{set: [l, 0, spec], value: {b: 2}}]",
		 "l:\n- metadata: {}\n  spec:\n    b: 2\n", NULL},
		/* not inserted between a comment and its entry */
		{"t:\n  # why\n  spec: 1\n",
		 "[{set: [t, metadata], value: {}}]",
		 "t:\n  # why\n  spec: 1\n  metadata: {}\n", NULL},
		{"# why\nspec: 1\n", "[{set: [metadata], value: {}}]",
		 "# why\nspec: 1\nmetadata: {}\n", NULL},
		/* not inserted above an entry that is removed or has no text
		   there */
		{"a: 1\nspec: 1\n",
		 "[{set: [metadata], value: {}}, {remove: [spec]}]",
		 "a: 1\nmetadata: {}\n", NULL},
		{"b: &b\n  spec: 1\nt:\n  <<: *b\n  a: 1\n",
		 "[{set: [t, metadata], value: {}}]",
		 "b: &b\n  spec: 1\nt:\n  <<: *b\n  a: 1\n  metadata: {}\n",
		 NULL},
		{"? spec\n: 1\na: 1\n", "[{set: [metadata], value: {}}]",
		 "? spec\n: 1\na: 1\nmetadata: {}\n", NULL},
		{"{spec: 1}\n", "[{set: [metadata], value: {}}]",
		 "{spec: 1, metadata: {}}\n", NULL},
	};

	(void)state;
	run_cases(cases, ARRAY_SIZE(cases));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(metadata_goes_before_the_spec),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
