/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kubeconfig files: accepted ones, and rejected ones with the line.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "webhook/api/api.h"

#define HEAD                                                                   \
	"apiVersion: v1\nkind: Config\ncurrent-context: a\n"                   \
	"contexts: [{name: a, context: {cluster: b, user: c}}]\n"
#define CLUSTER "clusters: [{name: b, cluster: {server: https://h}}]\n"
#define USER	"users: [{name: c, user: {token: t}}]\n"
/* base64 of "-----BEGIN X-----\n" */
#define PEM "LS0tLS1CRUdJTiBYLS0tLS0K"

static int parse(struct api_config *config, const char *text, struct err *err)
{
	return api_config_parse(config, "/etc/k/config", text, strlen(text),
				err);
}

static void a_kubeconfig_is_read_whole(void **state)
{
	static const char text[] =
		"apiVersion: v1\nkind: Config\ncurrent-context: two\n"
		"preferences: {}\n"
		"contexts:\n"
		"- name: one\n  context: {cluster: x, user: y}\n"
		"- name: two\n"
		"  context: {cluster: b, user: c, namespace: n}\n"
		"clusters:\n"
		"- name: x\n  cluster: {server: 'http://no'}\n"
		"- name: b\n  cluster:\n"
		"    server: https://api.example.com:6443/k8s/b//\n"
		"    certificate-authority: pki/ca.crt\n"
		"    tls-server-name: kubernetes\n"
		"    insecure-skip-tls-verify: false\n"
		"    proxy-url: ''\n"
		"users:\n"
		"- name: c\n  user:\n"
		"    client-certificate: /abs/c.crt\n"
		"    client-key-data: " PEM "\n"
		"    client-key: ignored.key\n"
		"    tokenFile: token\n";
	struct api_config c;
	struct err err = {0};

	assert_int_equal(parse(&c, text, &err), 0);
	assert_string_equal(c.server, "https://api.example.com:6443/k8s/b");
	assert_string_equal(c.ca.path, "/etc/k/pki/ca.crt");
	assert_null(c.ca.text);
	assert_string_equal(c.tls_server_name, "kubernetes");
	assert_string_equal(c.cert.path, "/abs/c.crt");
	assert_null(c.key.path);
	assert_string_equal(c.key.text, "-----BEGIN X-----\n");
	assert_string_equal(c.token_file, "/etc/k/token");
	assert_null(c.token);
	api_config_release(&c);
}

static void json_is_a_kubeconfig_too(void **state)
{
	struct api_config c;
	struct err err = {0};

	assert_int_equal(
		parse(&c,
		      "{\"kind\":\"Config\",\"apiVersion\":\"v1\","
		      "\"current-context\":\"a\",\"contexts\":[{\"name\":\"a\","
		      "\"context\":{\"cluster\":\"b\",\"user\":\"c\"}}],"
		      "\"clusters\":[{\"name\":\"b\",\"cluster\":{\"server\":"
		      "\"https://[::1]:6443\"}}],"
		      "\"users\":[{\"name\":\"c\",\"user\":{}}]}",
		      &err),
		0);
	assert_string_equal(c.server, "https://[::1]:6443");
	api_config_release(&c);
}

static void expect_plugin_refused(const char *text, const char *place)
{
	struct api_config c;
	struct err err = {0};
	char expected[256];

	snprintf(expected, sizeof(expected),
		 "/etc/k/config:%s: credential plugins are not supported; give "
		 "a token, a client certificate or a pod's service account, or "
		 "--cluster FILE from `gpugate snapshot`",
		 place);
	assert_int_equal(parse(&c, text, &err), -1);
	assert_string_equal(err.text, expected);
	assert_null(c.server);
}

static void credential_plugins_are_refused(void **state)
{
	struct api_config c;
	struct err err = {0};

	expect_plugin_refused(
		HEAD CLUSTER
		"users:\n- name: c\n  user:\n    exec:\n"
		"      apiVersion: client.authentication.k8s.io/v1\n"
		"      command: aws\n",
		"9:5: exec");
	/* A user with a token and a credential plugin is rejected too. */
	expect_plugin_refused(HEAD CLUSTER
			      "users:\n- name: c\n  user:\n    token: t\n"
			      "    auth-provider: {name: gcp}\n",
			      "10:5: auth-provider");
	assert_int_equal(parse(&c,
			       HEAD CLUSTER "users: [{name: c, user: "
					    "{token: t, exec: null}}]\n",
			       &err),
			 0);
	api_config_release(&c);
}

#define SERVER(words) HEAD "clusters: [{name: b, cluster: {" words "}}]\n" USER
#define WHO(words)    HEAD CLUSTER "users: [{name: c, user: {" words "}}]\n"

static void mistakes_have_a_position(void **state)
{
	static const struct {
		const char *text, *place, *part;
	} cases[] = {
		{"", ":1:1: ", "empty"},
		{"{", ":1:", ""},
		{"a: b\n c: d\n", ":2:", ""},
		{"[]\n", ":1:", "kind Config"},
		{"kind: Pod\napiVersion: v1\n", ":1:", "kind Config"},
		{"kind: Config\napiVersion: v2\n", ":1:", "apiVersion v1"},
		{"kind: Config\napiVersion: v1\n", ":1:", "current-context"},
		{"kind: Config\napiVersion: v1\ncurrent-context: ''\n",
		 ":3:", "current-context"},
		{"kind: Config\napiVersion: v1\ncurrent-context: z\n", ":3:18",
		 "no context `z`"},
		{HEAD, ":4:41", "no cluster `b`"},
		{HEAD CLUSTER, ":4:50", "no user `c`"},
		{SERVER(""), ":1:1", "server"},
		{SERVER("server: 'http://h'"), ":5:40", "only https"},
		{SERVER("server: https://"), ":5:40", "HOST"},
		{SERVER("server: https:///x"), ":5:40", "HOST"},
		{SERVER("server: 'https://u:p@h'"), ":5:40", "HOST"},
		{SERVER("server: 'https://h?x'"), ":5:40", "HOST"},
		{SERVER("server: 'https://h#x'"), ":5:40", "HOST"},
		{SERVER("server: 'https://h x'"), ":5:40", "HOST"},
		{SERVER("server: [https://h]"), ":5:", "server"},
		{SERVER("server: https://h, insecure-skip-tls-verify: true"),
		 ":5:77", "always verified"},
		{SERVER("server: https://h, proxy-url: 'http://p'"),
		 ":5:", "proxies"},
		{SERVER("server: https://h, certificate-authority-data: '%%'"),
		 ":5:", "base64"},
		{SERVER("server: https://h, certificate-authority-data: aGk="),
		 ":5:", "PEM"},
		{SERVER("server: https://h, certificate-authority: 7"),
		 ":5:", "string"},
		{WHO("username: u, password: p"), ":6:", "passwords"},
		{WHO("password: p"), ":6:", "passwords"},
		{WHO("as: root"), ":6:", "impersonation"},
		{WHO("as-groups: [system:masters]"), ":6:", "impersonation"},
		{WHO("client-certificate: a"), ":6:", "without client-key"},
		{WHO("client-key-data: " PEM),
		 ":6:", "without client-certificate"},
		{WHO("token: \"a\\0b\""), ":6:", "NUL"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct api_config c;
		struct err err = {0};

		assert_int_equal(parse(&c, cases[i].text, &err), -1);
		if (!text_starts(err.text, "/etc/k/config:") ||
		    !text_contains(err.text, cases[i].place) ||
		    !text_contains(err.text, cases[i].part))
			fail_msg("case %zu: %s", i, err.text);
		assert_null(c.server);
	}
}

static void the_pods_own_account_is_read(void **state)
{
	struct api_config c;
	struct err err = {0};

	unsetenv("KUBERNETES_SERVICE_HOST");
	unsetenv("KUBERNETES_SERVICE_PORT");
	assert_int_equal(api_config_in_cluster(&c, &err), -1);
	assert_non_null(strstr(err.text, "not in a pod"));
	setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1", 1);
	err = (struct err){0};
	assert_int_equal(api_config_in_cluster(&c, &err), -1);
	assert_non_null(strstr(err.text, "not in a pod"));
	setenv("KUBERNETES_SERVICE_PORT", "443", 1);
	err = (struct err){0};
	if (api_config_in_cluster(&c, &err))
		assert_non_null(strstr(err.text, "automountServiceAccount"));
	else
		api_config_release(&c);
}

static void a_missing_file_is_named(void **state)
{
	struct api_config c;
	struct err err = {0};

	assert_int_equal(api_config_load(&c, "/nonexistent/kc", &err), -1);
	assert_non_null(strstr(err.text, "/nonexistent/kc: No such file"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_kubeconfig_is_read_whole),
		cmocka_unit_test(json_is_a_kubeconfig_too),
		cmocka_unit_test(credential_plugins_are_refused),
		cmocka_unit_test(mistakes_have_a_position),
		cmocka_unit_test(the_pods_own_account_is_read),
		cmocka_unit_test(a_missing_file_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
