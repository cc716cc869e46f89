/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What credential plugins print, and the messages of API servers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

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
		cmocka_unit_test(test_messages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
