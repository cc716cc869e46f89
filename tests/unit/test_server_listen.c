/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses on which the server listens: every accepted and rejected form, and
 * a port in use.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "server_fixture.h"

static void addresses_are_listened_on_or_refused(void **state)
{
	static const struct {
		const char *address;
		bool good;
	} cases[] = {
		{":0", true},
		{"127.0.0.1:0", true},
		{"localhost:0", true},
		{"0.0.0.0:0", true},
		{"", false},
		{"8443", false},
		{"127.0.0.1", false},
		{"127.0.0.1:", false},
		{"127.0.0.1:x", false},
		{"::1:0", false},
		{"[::1:0", false},
		{"[]:0", false},
		{"192.0.2.1:0", false},
	};
	struct stage stage;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct err err = {0};

		stage_init(&stage);
		stage.options.listen = cases[i].address;
		stage.server = server_start(&stage.options, &err);
		if (!!stage.server != cases[i].good)
			fail_msg("'%s': %s", cases[i].address, err.text);
		assert_int_equal(!!err.set, !cases[i].good);
		if (stage.server)
			assert_int_equal(stage_ask(&stage, "{}"), 200);
		stage_end(&stage);
	}
}

static void a_port_in_use_is_an_error(void **state)
{
	struct stage first, stage;
	struct err err = {0};
	char address[30];

	(void)state;
	stage_init(&first);
	stage_start(&first);
	snprintf(address, sizeof(address), "127.0.0.1:%u",
		 server_port(first.server));
	stage_init(&stage);
	stage.options.listen = address;
	assert_null(server_start(&stage.options, &err));
	assert_non_null(strstr(err.text, "in use"));
	stage_end(&stage);
	stage_end(&first);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_are_listened_on_or_refused),
		cmocka_unit_test(a_port_in_use_is_an_error),
	};

	return cmocka_run_group_tests_name("server_listen", tests, NULL, NULL);
}
