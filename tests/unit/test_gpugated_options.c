/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpugated's options: defaults, environment and arguments in this order of
 * precedence, and every mistake gives 2 and a helpful message.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "webhook/commands.h"

enum { WORDS = 12 };

/* Parses the words after the required options; messages are in text. */
static int parse(struct serve_options *options, enum option_command command,
		 const char *const *words, char text[1024])
{
	static char cert[] = "--tls-cert=c", key[] = "--tls-key=k";
	char *argv[WORDS + 3] = {0};
	FILE *errors = fmemopen(text, 1024, "w");
	size_t n = 0;
	int rc;

	memset(options, 0, sizeof(*options));
	if (command == OPTION_SERVE) {
		argv[n++] = cert;
		argv[n++] = key;
	}
	for (; words && *words; words++)
		argv[n++] = (char *)(uintptr_t)*words;
	rc = serve_options_parse(options, command, argv, errors);
	fclose(errors);
	return rc;
}

static void options_have_their_defaults(void **state)
{
	struct serve_options o;
	char text[1024];

	(void)state;
	assert_int_equal(parse(&o, OPTION_SERVE, NULL, text), 0);
	assert_string_equal(o.listen, ":8443");
	assert_string_equal(o.probe_listen, ":8080");
	assert_string_equal(o.tls_cert, "c");
	assert_null(o.client_ca);
	assert_null(o.client_names.items);
	assert_null(o.policy);
	assert_int_equal(o.threads, 0);
	assert_int_equal(o.max_body, 7 << 20);
	assert_int_equal(o.drain, 95);
	assert_int_equal(o.timeout, 10);
	assert_string_equal(o.log_level, "info");
	assert_string_equal(o.log_format, "json");
	assert_string_equal(o.sandbox, "on");
	assert_string_equal(o.live, "auto");
	assert_false(o.help);
	serve_options_release(&o);
}

static void arguments_set_options(void **state)
{
	static const char *const words[] = {"--listen",
					    "127.0.0.1:0",
					    "--max-body=512Ki",
					    "--client-name",
					    "a",
					    "--client-name=b",
					    "--client-ca",
					    "ca",
					    "--drain",
					    "0",
					    NULL};
	struct serve_options o;
	char text[1024];

	(void)state;
	assert_int_equal(parse(&o, OPTION_SERVE, words, text), 0);
	assert_string_equal(o.listen, "127.0.0.1:0");
	assert_int_equal(o.max_body, 512 << 10);
	assert_int_equal(o.drain, 0);
	assert_int_equal(o.client_names.n, 2);
	assert_string_equal(o.client_names.items[1], "b");
	assert_null(o.client_names.items[2]);
	serve_options_release(&o);
}

static void the_environment_sets_options(void **state)
{
	static const char *const words[] = {"--threads=3", "--client-name=c",
					    NULL};
	struct serve_options o;
	char text[1024];

	(void)state;
	setenv("GPUGATED_THREADS", "7", 1);
	setenv("GPUGATED_LOG_FORMAT", "text", 1);
	setenv("GPUGATED_CLIENT_CA", "ca", 1);
	setenv("GPUGATED_CLIENT_NAME", "a, b", 1);
	setenv("GPUGATED_POLICY", "", 1);
	setenv("GPUGATED_ADDRESS", "not for serving", 1);
	assert_int_equal(parse(&o, OPTION_SERVE, NULL, text), 0);
	assert_int_equal(o.threads, 7);
	assert_string_equal(o.log_format, "text");
	assert_int_equal(o.client_names.n, 2);
	assert_string_equal(o.client_names.items[1], "b");
	assert_null(o.policy);
	assert_null(o.address);
	serve_options_release(&o);
	assert_int_equal(parse(&o, OPTION_SERVE, words, text), 0);
	assert_int_equal(o.threads, 3);
	assert_int_equal(o.client_names.n, 1);
	assert_string_equal(o.client_names.items[0], "c");
	serve_options_release(&o);
	/* Flags can be given in the environment too. */
	setenv("GPUGATED_SELF_MANAGED", "yes", 1);
	assert_int_equal(parse(&o, OPTION_SERVE, NULL, text), 2);
	assert_non_null(strstr(text, "--self-managed cannot be used together"));
	serve_options_release(&o);
	setenv("GPUGATED_SELF_MANAGED", "off", 1);
	assert_int_equal(parse(&o, OPTION_SERVE, NULL, text), 0);
	assert_false(o.self_managed);
	serve_options_release(&o);
	setenv("GPUGATED_SELF_MANAGED", "perhaps", 1);
	assert_int_equal(parse(&o, OPTION_SERVE, NULL, text), 2);
	assert_non_null(strstr(text, "`perhaps` is neither yes nor no"));
	serve_options_release(&o);
	unsetenv("GPUGATED_SELF_MANAGED");
	setenv("GPUGATED_DRAIN", "soon", 1);
	assert_int_equal(parse(&o, OPTION_SERVE, NULL, text), 2);
	assert_non_null(strstr(text, "GPUGATED_DRAIN: `soon`"));
	serve_options_release(&o);
	unsetenv("GPUGATED_DRAIN");
	unsetenv("GPUGATED_THREADS");
	unsetenv("GPUGATED_LOG_FORMAT");
	unsetenv("GPUGATED_CLIENT_CA");
	unsetenv("GPUGATED_CLIENT_NAME");
	unsetenv("GPUGATED_POLICY");
	unsetenv("GPUGATED_ADDRESS");
}

static void variables_are_named_after_their_options(void **state)
{
	char name[64];

	(void)state;
	for (size_t i = 0; i < option_set.n; i++) {
		word_variable(option_set.variables, option_set.items[i].name,
			      name);
		assert_int_equal(strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_"),
				 strlen(name));
		assert_int_equal(strncmp(name, "GPUGATED_", 9), 0);
	}
}

static void misspelled_options_suggest_the_right_one(void **state)
{
	static const struct {
		const char *words[3];
		const char *said;
	} table[] = {
		{{"--polcy", "x"}, "did you mean `--policy`?"},
		{{"--tls-certt=x"}, "did you mean `--tls-cert`?"},
		{{"--kubeconf", "x"}, "did you mean `--kubeconfig`?"},
		{{"--cluster=a", "--kubeconfig=b"},
		 "--cluster and --kubeconfig cannot be used together"},
		{{"--cluster=a", "--live=on"},
		 "--cluster and --live on cannot be used together"},
		{{"--live", "yes"}, "none of: auto on off"},
		{{"--address", "x"}, "unknown option `--address`"},
		{{"--policy"}, "needs a value: FILE"},
		{{"--policy="}, "needs a value: FILE"},
		{{"--help=yes"}, "takes no value"},
		{{"--threads", "0"}, "from 1 to 256"},
		{{"--threads", "257"}, "from 1 to 256"},
		{{"--threads", "-1"}, "from 1 to 256"},
		{{"--threads", "2x"}, "from 1 to 256"},
		{{"--threads", "99999999999999999999"}, "from 1 to 256"},
		{{"--drain", "1Ki"}, "is not a number"},
		{{"--max-body", "1023"}, "is not a number"},
		{{"--max-body", "2000Mi"}, "is not a number"},
		{{"--max-body", "17179869184Mi"}, "is not a number"},
		{{"--log-level", "loud"}, "none of: error warn info debug"},
		{{"--log-format", "js"}, "none of: json text"},
		{{"--sandbox", "auto"}, "none of: on off"},
		{{"--client-name", "x"}, "--client-name needs --client-ca"},
		{{"serve"}, "unexpected `serve`"},
		{{"--"}, "unexpected `--`"},
		{{"-v"}, "unknown option `-v`"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		const char *words[] = {table[i].words[0], table[i].words[1],
				       NULL};
		struct serve_options o;
		char text[1024] = "";

		assert_int_equal(parse(&o, OPTION_SERVE, words, text), 2);
		if (!strstr(text, table[i].said))
			fail_msg("%s, not: %s", text, table[i].said);
		serve_options_release(&o);
	}
}

static void serving_needs_certificates(void **state)
{
	static char help[] = "--help", cert[] = "--tls-cert=c";
	char *none[] = {NULL}, *one[] = {cert, NULL}, *asks[] = {help, NULL};
	char text[1024] = "";
	struct serve_options o = {0};
	FILE *errors = fmemopen(text, sizeof(text), "w");

	(void)state;
	assert_int_equal(serve_options_parse(&o, OPTION_SERVE, none, errors),
			 2);
	serve_options_release(&o);
	memset(&o, 0, sizeof(o));
	assert_int_equal(serve_options_parse(&o, OPTION_SERVE, one, errors), 2);
	serve_options_release(&o);
	memset(&o, 0, sizeof(o));
	assert_int_equal(serve_options_parse(&o, OPTION_SERVE, asks, errors),
			 0);
	assert_true(o.help);
	serve_options_release(&o);
	memset(&o, 0, sizeof(o));
	assert_int_equal(serve_options_parse(&o, OPTION_SELFTEST, none, errors),
			 0);
	serve_options_release(&o);
	fclose(errors);
	assert_non_null(strstr(text, "--tls-cert and --tls-key are needed"));
}

/* Certificates need an API server even if the state comes from a file. */
static void self_managed_works_with_a_snapshot_file(void **state)
{
	static char managed[] = "--self-managed", secret[] = "--secret=s",
		    space[] = "--namespace=n", config[] = "--webhook-config=w",
		    dns[] = "--dns=a", file[] = "--cluster=f",
		    kubeconfig[] = "--kubeconfig=k";
	char *words[] = {managed, secret, space,      config,
			 dns,	  file,	  kubeconfig, NULL};
	struct serve_options o = {0};

	(void)state;
	assert_int_equal(serve_options_parse(&o, OPTION_SERVE, words, stderr),
			 0);
	assert_string_equal(o.cluster, "f");
	assert_string_equal(o.kubeconfig, "k");
	serve_options_release(&o);
}

/* True if serving has an option of this name. Another command may have one of
 * the same name with another meaning. */
static bool is_for_serving(const char *name)
{
	for (size_t i = 0; i < option_set.n; i++)
		if (option_set.items[i].commands & OPTION_SERVE &&
		    !strcmp(option_set.items[i].name, name))
			return true;
	return false;
}

static void help_shows_defaults(void **state)
{
	struct buf out;

	(void)state;
	buf_init(&out);
	options_print(&option_set, OPTION_SERVE, &out);
	for (size_t i = 0; i < option_set.n; i++) {
		char line[80];

		snprintf(line, sizeof(line), " --%s ",
			 option_set.items[i].name);
		if (is_for_serving(option_set.items[i].name))
			assert_non_null(strstr(out.data, line));
		else
			assert_null(strstr(out.data, line));
	}
	assert_non_null(strstr(out.data, "Default: 7Mi"));
	assert_non_null(strstr(out.data, "Default: 95"));
	for (const char *at = out.data; *at; at += strcspn(at, "\n") + 1)
		assert_true(strcspn(at, "\n") <= 78);
	buf_release(&out);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_have_their_defaults),
		cmocka_unit_test(arguments_set_options),
		cmocka_unit_test(the_environment_sets_options),
		cmocka_unit_test(variables_are_named_after_their_options),
		cmocka_unit_test(misspelled_options_suggest_the_right_one),
		cmocka_unit_test(serving_needs_certificates),
		cmocka_unit_test(self_managed_works_with_a_snapshot_file),
		cmocka_unit_test(help_shows_defaults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
