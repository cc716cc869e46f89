/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recognition of secrets by name and by form, and their masking in any text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "kube/secret/secret.h"

/* Names in the table are found, whatever their last letter is. */
static void names_of_secrets_are_found(void **state)
{
	static const char *const others[] = {
		"AWS_SECRET_NAME", "EOS_TOKEN", "HF_HOME", "MAX_TOKEN", "", "_",
		"HF_TOKENS",
	};
	static const char *const ends[] = {
		"A_API_KEY=",	  "A_SECRET_KEY=", "A_ACCESS_KEY=",
		"A_PRIVATE_KEY=", "A_SECRET=",	   "_A_B_TOKEN: x",
		"-A_PASSWORD ",
	};

	(void)state;
	for (const char *const *name = secret_names; *name; name++) {
		assert_true(secret_is_name(*name, strlen(*name)));
		assert_true(secret_is(*name, "a1"));
		assert_true(secrets_possible(*name, strlen(*name)));
	}
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		assert_true(secrets_possible(ends[i], strlen(ends[i])));
	assert_true(secret_is("MY_PASSWORD", "01234567"));
	assert_false(secret_is("MY_PASSWORD", "0123456"));
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		assert_false(secret_is_name(others[i], strlen(others[i])));
}

struct mask_case {
	const char *text, *masked;
};

#define LETTERS "Ab1Cd2Ef3Gh4Ij5Kl6"

/* Tokens are recognized anywhere; words that only look like one are not. */
static void tokens_are_masked_wherever_they_stand(void **state)
{
	static const struct mask_case cases[] = {
		{"hf_" LETTERS, "hf_****"},
		{"--token=hf_" LETTERS "'", "--token=hf_****'"},
		{"ghp_" LETTERS " sk-" LETTERS, "ghp_**** sk-****"},
		{"github_pat_" LETTERS, "github_pat_****"},
		{"AKIAIOSFODNN7ABCDEFG,", "AKIA****,"},
		{"glpat-" LETTERS "nvapi-" LETTERS, "glpat-****"},
		{"sk-learn-image-classifier-2", "sk-learn-image-classifier-2"},
		{"hf_transfer_enabled_everywhere",
		 "hf_transfer_enabled_everywhere"},
		{"shelf_" LETTERS, "shelf_" LETTERS},
		{"hf_short1", "hf_short1"},
		{"", ""},
	};
	static const char *const prefixes[] = {
		"hf_",	 "api_org_", "ghp_",	    "gho_",   "ghu_",
		"ghs_",	 "ghr_",     "sk-",	    "nvapi-", "glpat-",
		"xoxb-", "xoxp-",    "github_pat_", "AKIA",   "ASIA",
	};
	struct arena arena = ARENA_INIT;
	struct secrets secrets = {.arena = &arena};

	(void)state;
	secrets_finish(&secrets);
	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		assert_string_equal(
			secrets_mask(&secrets, &arena,
				     arena_printf(&arena, "%s" LETTERS,
						  prefixes[i])),
			arena_printf(&arena, "%s****", prefixes[i]));
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct mask_case *c = &cases[i];

		assert_string_equal(secrets_mask(&secrets, &arena, c->text),
				    c->masked);
	}
	arena_release(&arena);
}

/* Checks that the secrets in the text are masked as wanted. */
static void masks_to(const char *text, const char *wanted)
{
	struct arena arena = ARENA_INIT;
	struct secrets secrets = {.arena = &arena};

	secrets_of_text(&secrets, text, strlen(text));
	secrets_finish(&secrets);
	assert_string_equal(secrets_mask(&secrets, &arena, text), wanted);
	assert_true(secrets_plain(text, strlen(text)) ||
		    secrets_possible(text, strlen(text)) ||
		    !strcmp(text, wanted));
	arena_release(&arena);
}

static void credentials_are_found_by_their_context(void **state)
{
	static const char *const cases[][2] = {
		{"PGPASSWORD=hunter psql", "PGPASSWORD=**** psql"},
		{"export MYSQL_PWD='hunter'", "export MYSQL_PWD='****'"},
		{"postgres://me:hunter2@db:5432/x",
		 "postgres://me:****@db:5432/x"},
		{"git clone https://u:a@b@host/r", "git clone "
						   "https://u:****@host/r"},
		{"me:hunter2@tcp(db:3306)/x", "me:****@tcp(db:3306)/x"},
		{"host=db password=hunter2 user=me",
		 "host=db password=**** user=me"},
		{"Server=db;Pwd=hunter2;", "Server=db;Pwd=****;"},
		{"AccountName=a;AccountKey=q83vEjRW/x9==;Endpoint=b",
		 "AccountName=a;AccountKey=****;Endpoint=b"},
		{"https://a.blob/x?sv=2024&sig=abc%3Ddefgh&se=1",
		 "https://a.blob/x?sv=2024&sig=****&se=1"},
		{"Authorization: Bearer abc.DEF-123",
		 "Authorization: Bearer ****"},
		{"-H 'authorization: basic dXNlcjpwYXNz'",
		 "-H 'authorization: basic ****'"},
		{"-H 'Authorization: Basic dXNlcjpwYXNz'",
		 "-H 'Authorization: Basic ****'"},
		{"https://hooks.slack.com/services/T01/B01/abcdEFGH",
		 "https://hooks.slack.com/services/****"},
		{"{\"password\": \"hunter2\"}", "{\"password\": \"****\"}"},
		{"\"{\\\"password\\\":\\\"hunter2\\\"}\"",
		 "\"{\\\"password\\\":\\\"****\\\"}\""},
		{"serve --password=hunter2 --x", "serve --password=**** --x"},
		{"[serve, --db-password, hunter2]",
		 "[serve, --db-password, ****]"},
		{"serve --api-key abcd1234 -x", "serve --api-key **** -x"},
		{"- --api-key\n- \"abcd1234\"", "- --api-key\n- \"****\""},
		{"wandb login --relogin 0123456789abcdef01234567 && x",
		 "wandb login --relogin **** && x"},
		{"[wandb, login, \"0123456789abcdef01234567\"]",
		 "[wandb, login, \"****\"]"},
		{"mysql -uroot -phunter2 db", "mysql -uroot -p**** db"},
		{"/usr/bin/mysqldump -p'hunter2' db",
		 "/usr/bin/mysqldump -p'****' db"},
		{"[mariadb, \"-phunter2\"]", "[mariadb, \"-p****\"]"},
		{"docker login -u me -p hunter2 r.io && docker run -p 8080:80",
		 "docker login -u me -p **** r.io && docker run -p 8080:80"},
		{"docker login -phunter2 r.io", "docker login -p**** r.io"},
		{"podman login -p=hunter2", "podman login -p=****"},
		{"helm registry login r.io -p hunter2",
		 "helm registry login r.io -p ****"},
		{"skopeo login \\\n  -p \"hunter2\"",
		 "skopeo login \\\n  -p \"****\""},
		{"redis-cli -h db -a hunter2 ping",
		 "redis-cli -h db -a **** ping"},
		{"[\"redis-cli\", \"-a\", \"hunter2\"]",
		 "[\"redis-cli\", \"-a\", \"****\"]"},
		{"command: ['valkey-cli', '-a', 'hunter2']",
		 "command: ['valkey-cli', '-a', '****']"},
		{"- redis-cli\n- -a\n- hunter2\n- ping",
		 "- redis-cli\n- -a\n- ****\n- ping"},
		{"command: [mongosh]\nargs: [-p, hunter2]",
		 "command: [mongosh]\nargs: [-p, ****]"},
		{"sshpass -p hunter2 ssh -p 2222 host",
		 "sshpass -p **** ssh -p 2222 host"},
		{"curl -u me:hunter2 -p http://host",
		 "curl -u me:**** -p http://host"},
		{"- name: SLACK_WEBHOOK\n  value: T01/B01/q83vEjRWx9q83vEjRWx9",
		 "- name: SLACK_WEBHOOK\n  value: ****"},
		{"SLACK_WEBHOOK_URL=https://h.io/a/q83vEjRWx9q83vEjRWx9",
		 "SLACK_WEBHOOK_URL=****"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		masks_to(cases[i][0], cases[i][1]);
}

static void texts_that_look_like_credentials_are_shown(void **state)
{
	static const char *const cases[] = {
		"https://host:8080/a@b",
		"postgres://me:$(PASSWORD)@db/x",
		"image: a@sha256:0123456789abcdef",
		"PWD=/work",
		"--max-tokens=12345678",
		"--password=$PASSWORD --x",
		"--password-file /run/secret",
		"password: {valueFrom: x}",
		"secretKeyRef: {name: db, key: password}",
		"key: password\nname: database",
		"automountServiceAccountToken: false",
		"basic authentication",
		"a bearer of messages",
		"wandb login && python train.py --epochs 100000000000000000000",
		"--tokenizer=abcd1234",
		"mysql -p db1234",
		"mysql -P 3306 --protocol tcp -p",
		"mysql -p$PASSWORD; mkdir -pathlike",
		"docker run -p 8080:80 redis",
		"docker login r.io; serve -p 8080",
		"docker login r.io\nserve -p 8080",
		"docker login --password-stdin -p",
		"mkdir -p cache1234",
		"redis-cli -h db ping; tar -a file1234",
		"redis-server -a",
		"redis-cli -a \"$REDIS_PASSWORD\" ping",
		"image: mysql:8.0\nargs: [-p3306x]",
		"curl -u \"$USER:$PASSWORD\" http://host",
		"ssh -p 2222 host",
		"sshpass -p $PASSWORD ssh -p 2222 host",
		"ALERT_WEBHOOK=http://alertmanager-main.monitoring.svc:9093/api/v1",
		"SLACK_WEBHOOK=your-webhook-0123456789",
		"hooks.slack.com/",
		"apiVersion: v1\nkind: Pod",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		masks_to(cases[i], cases[i]);
}

static void secret_values_are_masked_in_texts(void **state)
{
	static const char *const values[] = {
		"correct horse battery",
		"correct horse",
		"correct horse batt1",
		"pass\"word1",
		"it's 1 secret",
		"abcd",
		"line one of it\nline two of it",
	};
	static const struct mask_case cases[] = {
		{"x correct horse battery y", "x **** y"},
		{"correct horse!", "****!"},
		{"correct horse bat…", "****…"},
		/* two tokens without a blank between them are masked as one */
		{"correct horsecorrect horse", "****"},
		{"a correct person", "a correct person"},
		{"{\"a\":\"pass\\\"word1\"}", "{\"a\":\"****\"}"},
		{"'it''s 1 secret'", "'****'"},
		{"abcd, abcde, xabcd", "****, abcde, xabcd"},
		{"  line two of it", "  ****"},
		{"abc", "abc"},
	};
	struct arena arena = ARENA_INIT;
	struct secrets secrets = {.arena = &arena};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		secrets_add(&secrets, values[i], strlen(values[i]));
	secrets_finish(&secrets);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct mask_case *c = &cases[i];

		assert_string_equal(secrets_mask(&secrets, &arena, c->text),
				    c->masked);
	}
	arena_release(&arena);
}

/* Text that is not parsed: a secret in a plain value. */
static void a_text_that_is_not_parsed_is_masked(void **state)
{
	static const struct mask_case cases[] = {
		{"export HF_TOKEN=abc12345;", "export HF_TOKEN=****;"},
		{"HF_TOKEN: 'abc 12345'", "HF_TOKEN: '****'"},
		{"{\\\"HF_TOKEN\\\":\\\"abc12345\\\"}",
		 "{\\\"HF_TOKEN\\\":\\\"****\\\"}"},
		{"- name: HF_TOKEN\n  value: abc12345\n",
		 "- name: HF_TOKEN\n  value: ****\n"},
		{"- value: \"abc12345\"\n  name: HF_TOKEN\n",
		 "- value: \"****\"\n  name: HF_TOKEN\n"},
		{"{name: HF_TOKEN, value: abc12345}",
		 "{name: HF_TOKEN, value: ****}"},
		{"- name: HF_TOKEN\n  value: |\n    abc12345\n- name: b\n",
		 "- name: HF_TOKEN\n  value: |\n    ****\n- name: b\n"},
		/* an entry's value belongs to no other entry */
		{"- name: A\n  value: abc12345\n- name: HF_TOKEN\n  valueFrom:",
		 NULL},
		{"HF_TOKEN=$(cat /1) $HF_TOKEN ${HF_TOKEN} HF_TOKEN", NULL},
		{"HF_TOKEN = os.environ['HF_TOKEN']", NULL},
		{"HF_TOKEN=", NULL},
		{"HF_TOKEN: |", NULL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct mask_case *c = &cases[i];
		struct arena arena = ARENA_INIT;
		struct secrets secrets = {.arena = &arena};

		secrets_of_text(&secrets, c->text, strlen(c->text));
		secrets_finish(&secrets);
		assert_string_equal(secrets_mask(&secrets, &arena, c->text),
				    c->masked ? c->masked : c->text);
		arena_release(&arena);
	}
}

/* A hostile file with as many values and names as fit into it takes linear
 * time. */
static void many_secrets_stay_linear(void **state)
{
	struct arena arena = ARENA_INIT;
	struct secrets secrets = {.arena = &arena};
	struct buf text;

	(void)state;
	buf_init(&text);
	for (unsigned i = 0; i < 60000; i++)
		buf_addf(&text, "HF_TOKEN=aaaaaaaaaaaaaaaa%u ", i);
	for (unsigned i = 0; i < 60000; i++)
		buf_adds(&text, "HF_TOKEN=");
	for (unsigned i = 0; i < 60000; i++)
		buf_adds(&text, "HF_TOKEN=$");
	for (unsigned i = 0; i < 60000; i++)
		buf_adds(&text, "curl,-p,a,-u,");
	secrets_of_text(&secrets, text.data, text.len);
	secrets_finish(&secrets);
	assert_true(secrets.n >= 60000);
	assert_true(secrets_count(&secrets, text.data, text.len) >= 60000);
	assert_false(text_contains(secrets_mask(&secrets, &arena, text.data),
				   "aaaa"));
	buf_release(&text);
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_secrets_are_found),
		cmocka_unit_test(tokens_are_masked_wherever_they_stand),
		cmocka_unit_test(secret_values_are_masked_in_texts),
		cmocka_unit_test(credentials_are_found_by_their_context),
		cmocka_unit_test(texts_that_look_like_credentials_are_shown),
		cmocka_unit_test(a_text_that_is_not_parsed_is_masked),
		cmocka_unit_test(many_secrets_stay_linear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
