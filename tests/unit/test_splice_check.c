/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The check that is required before a file is written: splices_check() must
 * accept texts that read as intended and reject everything else.
 */
#include "json_reading.h"

#include "doc/splice.h"

static void a_wrong_splice_is_noticed(void **state)
{
	static const char before[] = "a: 1\n---\nb: 1\n";
	static const struct {
		const char *after;
		bool good;
	} cases[] = {
		{"a: 2\n---\nb: 1\n", true},
		{"a: 2 # x\n---\n\nb:   1\n", true},
		{"a: 1\n---\nb: 1\n", false},
		{"a: 2\n---\nb: 2\n", false},
		{"a: 2\n", false},
		{"a: 2\n---\nb: 1\n---\nc: 1\n", false},
		{"a: 2\n---\nb: [1\n", false},
		{"a: 2\n---\n", false},
		{"", false},
	};
	struct reading old, wanted;
	const struct node *root = read_text(&wanted, "{\"a\":2}");

	(void)state;
	reading_init(&old, before, strlen(before));
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct splice_expect expect = {.number = 1, .root = root};
		struct err err = {0};
		struct buf after;
		int status;

		buf_init(&after);
		buf_adds(&after, cases[i].after);
		status = splices_check(&old.source, &after, &expect, 1, &err);
		if ((status == 0) != cases[i].good || !err.set != !status)
			fail_msg("%s: %s", cases[i].after, err.text);
		buf_release(&after);
	}
	reading_release(&old);
	reading_release(&wanted);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wrong_splice_is_noticed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
