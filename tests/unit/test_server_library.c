/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests that libmicrohttpd, not the server, accepts or rejects by their
 * form.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <microhttpd.h>

#include "server_fixture.h"

#define HOST "Host: a\r\n"
#define JSON "Content-Type: application/json\r\n"

static int set_up(void **state)
{
	static struct stage stage;

	stage_init(&stage);
	stage_start(&stage);
	*state = &stage;
	return 0;
}

static int tear_down(void **state)
{
	stage_end(*state);
	return 0;
}

/* As described in webhook/README.md: 0.9.75 does not pass them on. 1.0 rejects
 * them, some without a response. */
static void requests_that_the_library_does_not_pass_on(void **state)
{
#define HIDDEN(what, text)                                                     \
	{                                                                      \
		what, text, sizeof(text) - 1                                   \
	}
	static const struct {
		const char *what, *request;
		size_t len;
	} rows[] = {
		HIDDEN("lines that end with LF",
		       "POST /mutate HTTP/1.1\nHost: a\n"
		       "Content-Type: application/json\n"
		       "Content-Length: 2\n\n{}"),
		HIDDEN("a folded line",
		       "POST /mutate HTTP/1.1\r\n" HOST JSON
		       "X: a\r\n b\r\nContent-Length: 2\r\n\r\n{}"),
		HIDDEN("blanks before the path",
		       "POST   /mutate HTTP/1.1\r\n" HOST JSON
		       "Content-Length: 2\r\n\r\n{}"),
		HIDDEN("a NUL in a value",
		       "POST /mutate HTTP/1.1\r\n" HOST JSON
		       "X: a\0b\r\nContent-Length: 2\r\n\r\n{}"),
		HIDDEN("a NUL in the path",
		       "POST /mutate\0x HTTP/1.1\r\n" HOST JSON
		       "Content-Length: 2\r\n\r\n{}"),
	};
#undef HIDDEN

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		bool refused = MHD_VERSION >= 0x01000000;
		struct caller caller;
		struct answer answer;

		print_message("  %s\n", rows[i].what);
		caller_open(&caller, *state);
		assert_true(caller_send(&caller, rows[i].request, rows[i].len));
		caller_answer(&caller, &answer);
		if (answer.status || !refused)
			assert_int_equal(answer.status, refused ? 400 : 200);
		if (refused)
			assert_true(caller_ends(&caller, 2000));
		answer_free(&answer);
		caller_close(&caller);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_that_the_library_does_not_pass_on),
	};

	return cmocka_run_group_tests_name("server_library", tests, set_up,
					   tear_down);
}
