/* SPDX-License-Identifier: Apache-2.0 */
/* The door with the real rules: what is let through unread is counted. */
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

#include "base/buf.h"
#include "base/err.h"
#include "engine/registry.h"
#include "webhook/door.h"

struct stage {
	struct rule_set rules;
	struct metrics *metrics;
	struct log *log;
	struct door *door;
	struct door_worker *worker;
	struct door_reply reply; /* the last one */
	int silent;
};

static int setup(void **state)
{
	struct stage *s = calloc(1, sizeof(*s));
	struct door_options options;

	s->rules = (struct rule_set){all_rules, all_rules_count};
	s->metrics = metrics_new();
	s->silent = open("/dev/null", O_WRONLY | O_CLOEXEC);
	s->log = log_new(s->silent, LOG_ERROR, false);
	options = (struct door_options){
		.rules = &s->rules, .metrics = s->metrics, .log = s->log};
	s->door = door_new(&options);
	s->worker = door_worker_new(s->door);
	door_set_policy(s->door, policy_default(&s->rules, "recommended"));
	*state = s;
	return 0;
}

static int teardown(void **state)
{
	struct stage *s = *state;

	door_worker_free(s->worker);
	door_free(s->door);
	log_free(s->log);
	metrics_free(s->metrics);
	close(s->silent);
	free(s);
	return 0;
}

static double figure(const struct stage *s, const char *name)
{
	struct buf page;
	const char *at;
	char want[120];
	double value = -1;

	buf_init(&page);
	metrics_write(s->metrics, &page);
	snprintf(want, sizeof(want), "\n%s ", name);
	at = strstr(page.data, want);
	if (at)
		value = strtod(at + strlen(want), NULL);
	buf_release(&page);
	return value;
}

struct ask {
	enum door_path path;
	const char *operation, *group, *kind, *subresource, *object;
};

static void post(struct stage *s, const struct ask *ask)
{
	struct buf body;

	buf_init(&body);
	buf_addf(&body,
		 "{\"apiVersion\":\"admission.k8s.io/v1\","
		 "\"kind\":\"AdmissionReview\",\"request\":{\"uid\":\"u-1\","
		 "\"operation\":\"%s\",\"kind\":{\"group\":\"%s\","
		 "\"version\":\"v1\",\"kind\":\"%s\"},\"subResource\":\"%s\","
		 "\"namespace\":\"ml\",\"name\":\"a\","
		 "\"userInfo\":{\"username\":\"alice\"},"
		 "\"object\":%s,\"oldObject\":null}}",
		 ask->operation, ask->group, ask->kind, ask->subresource,
		 ask->object);
	door_answer(s->worker, ask->path, body.data, body.len, &s->reply);
	buf_release(&body);
	assert_int_equal(s->reply.status, 200);
}

static bool says(const struct stage *s, const char *text)
{
	return memmem(s->reply.body, s->reply.len, text, strlen(text));
}

static const char scale[] =
	"{\"apiVersion\":\"autoscaling/v1\",\"kind\":\"Scale\","
	"\"metadata\":{\"name\":\"a\"},\"spec\":{\"replicas\":900}}";
/* Half a GPU: denied wherever it is looked at. */
static const char wrong[] =
	"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"},"
	"\"spec\":{\"containers\":[{\"name\":\"m\",\"image\":\"r/a:1\","
	"\"resources\":{\"limits\":{\"nvidia.com/gpu\":\"0.5\"}}}]}}";

static const struct {
	const char *reason; /* NULL: it is judged */
	struct ask ask;
	bool allowed;
} asks[] = {
	{"scale",
	 {DOOR_VALIDATE, "UPDATE", "autoscaling", "Scale", "scale", scale},
	 true},
	{"scale",
	 {DOOR_MUTATE, "UPDATE", "autoscaling", "Scale", "scale", scale},
	 true},
	{"subresource",
	 {DOOR_VALIDATE, "UPDATE", "", "Pod", "status", wrong},
	 true},
	{"subresource",
	 {DOOR_VALIDATE, "CREATE", "", "Binding", "binding", "{}"},
	 true},
	{"operation", {DOOR_VALIDATE, "DELETE", "", "Pod", "", "null"}, true},
	{"operation",
	 {DOOR_VALIDATE, "CONNECT", "", "Pod", "exec", "{}"},
	 true},
	{"operation", {DOOR_VALIDATE, "", "", "Pod", "", wrong}, true},
	{"no_patch", {DOOR_MUTATE, "UPDATE", "", "Pod", "", wrong}, true},
	{NULL, {DOOR_VALIDATE, "CREATE", "", "Pod", "", wrong}, false},
	{NULL, {DOOR_VALIDATE, "UPDATE", "", "Pod", "", wrong}, false},
	{NULL, {DOOR_VALIDATE, "UPDATE", "", "Pod", "resize", wrong}, false},
	{NULL, {DOOR_MUTATE, "CREATE", "", "Pod", "", wrong}, true},
};

static void what_is_not_judged_is_counted(void **state)
{
	static const char *const reasons[] = {"scale", "subresource",
					      "operation", "no_patch"};
	struct stage *s = *state;
	double before[4], after;

	for (size_t i = 0; i < sizeof(asks) / sizeof(*asks); i++) {
		char name[60];

		for (int pass = 0; pass < 2; pass++) {
			if (pass)
				post(s, &asks[i].ask);
			for (int r = 0; r < 4; r++) {
				bool named =
					asks[i].reason &&
					!strcmp(asks[i].reason, reasons[r]);

				snprintf(name, sizeof(name),
					 "gpugate_not_judged_total{reason="
					 "\"%s\"}",
					 reasons[r]);
				after = figure(s, name);
				if (pass)
					assert_true(after == before[r] + named);
				before[r] = after;
			}
		}
		print_message("  %s %s/%s: %.*s\n", asks[i].ask.operation,
			      asks[i].ask.kind, asks[i].ask.subresource,
			      (int)(s->reply.len > 60 ? 60 : s->reply.len),
			      s->reply.body);
		assert_int_equal(says(s, "\"allowed\":true"), asks[i].allowed);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_not_judged_is_counted),
	};

	return cmocka_run_group_tests_name("door", tests, NULL, NULL);
}
