/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The messages of API servers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "webhook/api/api.h"

static void a_status_becomes_one_line(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"{\"kind\":\"Status\",\"message\":\"no\"}", "no"},
		{"{\"message\":\"a\\nb\"}", "a b"},
		{"404 page not found\n", "404 page not found"},
		{"", ""},
		{"  \n", ""},
	};
	char text[1000];
	struct buf out;

	buf_init(&out);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		buf_reset(&out);
		buf_adds(&out, "HTTP: ");
		api_status_message(cases[i].text, strlen(cases[i].text), &out);
		assert_string_equal(out.data + 6, cases[i].message);
	}
	memset(text, 'x', sizeof(text));
	buf_reset(&out);
	api_status_message(text, sizeof(text), &out);
	assert_int_equal(out.len, 300);
	assert_int_equal(strlen(out.data), 300);
	buf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_status_becomes_one_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
