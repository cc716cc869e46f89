/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What credential plugins print and do, and the messages of API servers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>
#include <time.h>

#include "../../webhook/api_exec.h"
#include "../../webhook/api_transfer.h"

static void test_credentials(void **state)
{
	static const struct {
		const char *text;
		const char *token, *cert; /* NULL: refused */
		int64_t expires;
	} cases[] = {
		{"{\"status\":{\"token\":\"t\"}}", "t", "", 0},
		{"{\"status\":{\"clientCertificateData\":\"c\","
		 "\"clientKeyData\":\"k\"}}",
		 "", "c", 0},
		{"{\"status\":{\"token\":\"t\",\"expirationTimestamp\":"
		 "\"2026-01-02T03:04:05Z\"}}",
		 "t", "", 1767323045},
		{"{\"status\":{\"token\":\"t\",\"expirationTimestamp\":"
		 "\"2026-01-02T03:04:05.678+02:00\"}}",
		 "t", "", 1767323045 - 7200},
		{"{\"status\":{\"token\":\"t\",\"expirationTimestamp\":"
		 "\"2026-01-02T03:04:05-01:30\"}}",
		 "t", "", 1767323045 + 5400},
		{"{\"status\":{\"token\":\"t\",\"expirationTimestamp\":"
		 "\"tomorrow\"}}",
		 NULL, NULL, 0},
		{"{\"status\":{\"clientCertificateData\":\"c\"}}", NULL, NULL,
		 0},
		{"{\"status\":{\"token\":\"\"}}", NULL, NULL, 0},
		{"{\"status\":{\"token\":7}}", NULL, NULL, 0},
		{"{}", NULL, NULL, 0},
		{"[]", NULL, NULL, 0},
		{"", NULL, NULL, 0},
		{"token", NULL, NULL, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct api_credential c;
		struct err err = {0};
		int rc;

		api_credential_init(&c);
		buf_adds(&c.token, "old");
		rc = api_credential_parse(&c, cases[i].text,
					  strlen(cases[i].text), &err);
		assert_int_equal(rc, cases[i].token ? 0 : -1);
		assert_int_equal(err.set, rc != 0);
		assert_string_equal(c.token.data, rc ? "old" : cases[i].token);
		assert_string_equal(c.cert.data, rc ? "" : cases[i].cert);
		assert_int_equal(c.expires, cases[i].expires);
		api_credential_release(&c);
	}
}

/* --- plugins as programs -------------------------------------------------- */

static void expect_answer(struct api_helper *helper, int rc, const char *text)
{
	struct err err = {0};
	time_t began = time(NULL);
	struct buf out;

	buf_init(&out);
	/* As some call of before left it. */
	errno = EINTR;
	assert_int_equal(api_helper_ask(helper, NULL, &out, &err), rc);
	assert_string_equal(rc ? err.text : out.data, text);
	assert_true(time(NULL) - began < 20);
	buf_release(&out);
}

static struct api_helper *start(char *script)
{
	static char sh[] = "/bin/sh", c[] = "-c";
	char *const argv[] = {sh, c, script, NULL};
	const struct api_exec exec = {
		.api_version = "client.authentication.k8s.io/v1",
		.argv = argv,
	};
	const struct api_config config = {.exec = &exec};
	struct err err = {0};
	struct api_helper *helper = api_helper_start(&config, &err);

	assert_non_null(helper);
	return helper;
}

static void test_plugins(void **state)
{
	static const struct {
		char script[80];
		int rc;
		const char *text;
	} cases[] = {
		{"echo yes; echo no >&2", 0, "yes\n"},
		{"echo yes; exec >&- 2>&-; sleep 0.3", 0, "yes\n"},
		{"echo yes; echo no >&2; exit 1", -1, "credential plugin: no"},
		/* Nothing more can come, and still it does not end. */
		{"exec >&- 2>&-; exec sleep 120", -1,
		 "credential plugin: it was killed"},
		{"while :; do echo yes; done", -1,
		 "credential plugin: it was killed"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char script[sizeof(cases[i].script)];
		struct api_helper *helper;

		memcpy(script, cases[i].script, sizeof(script));
		helper = start(script);
		expect_answer(helper, cases[i].rc, cases[i].text);
		expect_answer(helper, cases[i].rc, cases[i].text);
		api_helper_stop(helper);
	}
}

static void test_helper_gone(void **state)
{
	char script[] = "kill -KILL $PPID";
	struct api_helper *helper = start(script);

	expect_answer(helper, -1, "the credential plugin does not answer");
	expect_answer(helper, -1, "the credential plugin does not answer");
	api_helper_stop(helper);
}

static void test_messages(void **state)
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
		cmocka_unit_test(test_credentials),
		cmocka_unit_test(test_plugins),
		cmocka_unit_test(test_helper_gone),
		cmocka_unit_test(test_messages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
