/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers for objects with secret values: neither the message nor the log
 * contains them, but the patch does.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "admission_stage.h"
#include "base/buf.h"
#include "base/err.h"

#define TOKEN "hf_Zq7Xw9Jk5Vb3Zq7Xw9Jk5Vb3"
#define ENTRY "{\"name\":\"HF_TOKEN\",\"value\":\"" TOKEN "\"},"
/* Messages quote a variable, an unknown rule name, and a truncated text. */
#define POD(entries)                                                           \
	"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":"      \
	"\"a\",\"annotations\":{\"gpugate.dev/ignore\":\"" TOKEN "\","         \
	"\"gpugate.dev/ignore-reason\":\"x\",\"ticket\":\"" TOKEN "\"}},"      \
	"\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"a:1\","         \
	"\"command\":[\"run --token " TOKEN "\"],\"env\":[" entries            \
	"{\"name\":\"CUDA_VISIBLE_DEVICES\",\"value\":\"" TOKEN "\"}],"        \
	"\"resources\":{\"limits\":{\"nvidia.com/gpu\":2}}}]}}"

struct world {
	struct stage stage;
	char log[32];
};

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	strcpy(w->log, "/tmp/webhook-secret-XXXXXX");
	stage_begin(&w->stage, mkostemp(w->log, O_CLOEXEC), LOG_DEBUG, true);
	w->stage.user = "alice";
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	unlink(w->log);
	stage_end(&w->stage);
	free(w);
	return 0;
}

static void set_policy(struct world *w, const char *mode)
{
	char yaml[400];
	struct policy_text text = {"policy", yaml, 0};
	struct policy_options options = {.admission = true};
	struct policy_problems problems = {0};
	struct policy *policy;

	snprintf(yaml, sizeof(yaml),
		 "apiVersion: gpugate.dev/v1\nkind: Policy\n"
		 "extends: strict\nmode: %s\n"
		 "breakGlass: {annotation: ticket, groups: [oncall]}\n"
		 "rules:\n  all: off\n  secret-in-gpu-env: info\n"
		 "  suppression-malformed: warning\n"
		 "  command-single-string: error\n"
		 "  cuda-visible-devices-invalid: {action: deny}\n"
		 "  shm-missing: {action: patch}\n",
		 mode);
	text.len = strlen(yaml);
	policy = policy_parse(&w->stage.rules, &text, &options, &problems);
	for (size_t i = 0; i < problems.n; i++)
		print_error("%s\n", problems.items[i].text);
	assert_non_null(policy);
	policy_problems_release(&problems);
	admission_set_policy(w->stage.admission, policy);
}

static void post(struct world *w, enum admission_path path, const char *groups,
		 const char *object)
{
	struct stage *s = &w->stage;
	struct buf body;

	buf_init(&body);
	buf_addf(&body,
		 "{\"apiVersion\":\"admission.k8s.io/v1\","
		 "\"kind\":\"AdmissionReview\",\"request\":{\"uid\":\"u-1\","
		 "\"operation\":\"CREATE\",\"kind\":{\"group\":\"\","
		 "\"version\":\"v1\",\"kind\":\"Pod\"},\"namespace\":\"ml\","
		 "\"name\":\"a\",\"userInfo\":{\"username\":\"alice\","
		 "\"groups\":[%s]},\"object\":%s,\"oldObject\":null}}",
		 groups, object);
	admission_review(s->worker, path, body.data, body.len, &s->reply);
	buf_release(&body);
	assert_int_equal(s->reply.status, 200);
}

static bool says(const struct world *w, const char *text)
{
	const struct admission_reply *reply = &w->stage.reply;

	return memmem(reply->body, reply->len, text, strlen(text));
}

static bool logged(const struct world *w, const char *text)
{
	char log[65536] = "";
	int fd = open(w->log, O_RDONLY | O_CLOEXEC);
	ssize_t n = read(fd, log, sizeof(log) - 1);

	close(fd);
	assert_true(n > 0);
	return strstr(log, text);
}

static void check_quiet(struct world *w)
{
	assert_false(says(w, "Zq7Xw"));
	assert_true(says(w, "hf_****"));
	assert_false(logged(w, "Zq7Xw"));
}

/* Secrets are also masked if they are recognized only by their form. */
static void no_answer_or_log_holds_a_secret(void **state)
{
	static const char *const modes[] = {"enforce", "warn", "audit"};
	static const char *const pods[] = {POD(ENTRY), POD("")};

	for (size_t i = 0; i < 2 * 3; i++) {
		const char *mode = modes[i / 2], *pod = pods[i % 2];

		set_policy(*state, mode);
		post(*state, ADMISSION_VALIDATE, "", pod);
		if (strcmp(mode, "audit") != 0)
			check_quiet(*state);
		else
			assert_false(says(*state, "Zq7Xw"));
	}
}

/* The ticket is copied into the audit log, so a secret in it must be masked. */
static void a_break_glass_ticket_is_masked(void **state)
{
	set_policy(*state, "enforce");
	post(*state, ADMISSION_VALIDATE, "\"oncall\"", POD(ENTRY));
	assert_true(says(*state, "\"allowed\":true"));
	assert_true(says(*state, "\"break-glass\":\"hf_****\""));
	check_quiet(*state);
}

static void an_unreadable_object_shows_no_secret(void **state)
{
	set_policy(*state, "enforce");
	post(*state, ADMISSION_VALIDATE, "",
	     "{\"a\":\"" TOKEN "\",\"b\":\"\xff\"}");
	assert_true(says(*state, "invalid-syntax"));
	assert_false(says(*state, "Zq7Xw"));
	assert_false(logged(*state, "Zq7Xw"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(no_answer_or_log_holds_a_secret,
						setup, teardown),
		cmocka_unit_test_setup_teardown(a_break_glass_ticket_is_masked,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			an_unreadable_object_shows_no_secret, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
