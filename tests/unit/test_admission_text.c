/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The texts of a verdict: complete denials and warnings.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "ask_fixture.h"
#include "base/text.h"
#include "cli/words.h"

#define TEN  "of its ten "
#define LONG TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN
#define HALF_A_GPU(name)                                                       \
	"{name: " name ", image: r/a:1, "                                      \
	"resources: {limits: {nvidia.com/gpu: '0.5'}}}"
#define NAME_OF_60 "a23456789-123456789-123456789-123456789-123456789-123456789"

static size_t count_of(const struct stage *s, const char *text)
{
	char *body = strndup(s->reply.body, s->reply.len), *at = body;
	size_t n = 0;

	while ((at = strstr(at, text))) {
		at += strlen(text);
		n++;
	}
	free(body);
	return n;
}

/* Each container has its line, none is cut, and the uid is the last line. */
static void a_denial_loses_nothing(void **state)
{
	struct stage *s = *state;
	struct ask ask = {ADMISSION_VALIDATE, "CREATE", "", "Pod", "", NULL};
	struct buf object;

	buf_init(&object);
	buf_adds(&object, "{apiVersion: v1, kind: Pod, metadata: {name: a}, "
			  "spec: {containers: [");
	for (int i = 0; i < 30; i++)
		buf_addf(&object, "%s" HALF_A_GPU(NAME_OF_60 "%d"),
			 i ? ", " : "", i);
	buf_adds(&object, "]}}");
	ask.object = object.data;
	use_policy(s,
		   "apiVersion: gpugate.dev/v1\nkind: Policy\ncontact: '" LONG
		   "end'\n");
	post(s, &ask);
	buf_release(&object);
	print_message("  %.*s\n", (int)s->reply.len, s->reply.body);
	assert_true(says(s, DENIED));
	assert_int_equal(count_of(s, "gpu-fractional-quantity: "), 30);
	assert_false(says(s, "…"));
	assert_true(says(s, "\\n" LONG "end\\nreview u-1\""));
}

/* A value as long as the review is cut in the texts. */
static void a_long_value_is_cut(void **state)
{
	struct stage *s = *state;
	struct ask ask = {ADMISSION_VALIDATE, "CREATE", "", "Pod", "", NULL};
	struct buf object;

	buf_init(&object);
	buf_adds(&object, "{apiVersion: v1, kind: Pod, metadata: {name: a}, "
			  "spec: {containers: [{name: a, image: r/a:1, env: "
			  "[{name: NVIDIA_VISIBLE_DEVICES, value: '");
	for (int i = 0; i < 20000; i++)
		buf_addf(&object, "%d,", i);
	buf_adds(&object, "'}]}]}}");
	ask.object = object.data;
	for (int enforce = 0; enforce < 2; enforce++) {
		use_policy(s, enforce ? "apiVersion: gpugate.dev/v1\n"
					"kind: Policy\nmode: enforce\n"
				      : "apiVersion: gpugate.dev/v1\n"
					"kind: Policy\nmode: warn\n");
		post(s, &ask);
		print_message("  %.*s\n", (int)s->reply.len, s->reply.body);
		assert_true(says(s, "nvidia-visible-devices-override: "));
		assert_true(says(s, ",99,100,"));
		assert_true(says(s, "..."));
		assert_true(s->reply.len < 5000);
	}
	buf_release(&object);
}

/* A finding without help is its message, in the first line of a denial, in a
 * further line and in a warning. */
static void a_finding_may_have_no_help(void **state)
{
	struct stage *s = *state;
	struct ask ask = {
		ADMISSION_VALIDATE,
		"CREATE",
		"ray.io",
		"RayJob",
		"",
		"{apiVersion: ray.io/v1, kind: RayJob, metadata: {name: a}, "
		"spec: {ttlSecondsAfterFinished: 600, suspend: true, "
		"clusterSelector: {ray.io/cluster: b}}}"};

	for (int enforce = 0; enforce < 2; enforce++) {
		use_policy(s, enforce ? "apiVersion: gpugate.dev/v1\n"
					"kind: Policy\nmode: enforce\n"
				      : "apiVersion: gpugate.dev/v1\n"
					"kind: Policy\nmode: warn\n");
		post(s, &ask);
		print_message("  %.*s\n", (int)s->reply.len, s->reply.body);
		assert_int_equal(count_of(s, "kuberay-rejects: "), 3);
		assert_int_equal(count_of(s, "KubeRay rejects the object"), 3);
		assert_false(says(s, "KubeRay rejects the object —"));
		assert_false(says(s, "\\n\\n"));
		assert_false(says(s, "kuberay-rejects: \""));
	}
}

static void unread_objects_have_a_uid_too(void **state)
{
	struct stage *s = *state;
	struct ask ask = {ADMISSION_VALIDATE, "CREATE", "", "Pod", "", "null"};

	post(s, &ask);
	assert_true(says(s, "request.object is missing\\nreview u-1\""));
}

/* Reads the warnings of the reply, which must not contain quotes in this
 * test. */
static void each_warning(const struct stage *s, struct list *warnings,
			 struct arena *arena)
{
	char *body = arena_strndup(arena, s->reply.body, s->reply.len);
	char *at = strstr(body, "\"warnings\":["), *end;

	assert_non_null(at);
	at += strlen("\"warnings\":[");
	while (*at == '"') {
		end = strchr(at + 1, '"');
		*end = '\0';
		list_add(arena, warnings, at + 1);
		at = end[1] == ',' ? end + 2 : end + 1;
	}
}

static void warnings_split_between_words(void **state)
{
	struct stage *s = *state;
	struct ask ask = {ADMISSION_VALIDATE,
			  "CREATE",
			  "batch",
			  "Job",
			  "",
			  JOB(IGNORE("job-backoff-unbounded"), "")};
	struct list warnings = {0};
	struct arena arena = {0};
	struct buf text;

	use_policy(s, "apiVersion: gpugate.dev/v1\nkind: Policy\nmode: warn\n"
		      "rules: {shm-missing: {action: deny}}\ncontact: '" LONG
		      "end'\n");
	ask.object = JOB(IGNORE("shm-missing"), "");
	post(s, &ask);
	print_message("  %.*s\n", (int)s->reply.len, s->reply.body);
	assert_false(says(s, "…"));
	each_warning(s, &warnings, &arena);
	buf_init(&text);
	for (size_t i = 0; i < warnings.n; i++) {
		const char *line = warnings.items[i];

		assert_true(utf8_count(line, strlen(line)) <= 120);
		assert_true(*line != ' ' && line[strlen(line) - 1] != ' ');
		buf_addf(&text, "%s ", line);
	}
	assert_non_null(strstr(text.data, TEN TEN TEN TEN TEN "of"));
	assert_non_null(strstr(text.data, "ten end "));
	buf_release(&text);
	arena_release(&arena);
}

/* --- suppressions and tickets --------------------------------------------- */

#define PATCHES                                                                 \
	"apiVersion: gpugate.dev/v1\nkind: Policy\nmode: %s\ncontact: '#gpu'\n" \
	"rules:\n  shm-missing: {action: patch}\n"                              \
	"suppressions: {annotations: {rules: [%s], %s}}\n"                      \
	"breakGlass: {groups: [oncall], annotation: x/glass}\n"
#define A_POD(annotations)                                                     \
	"{apiVersion: v1, kind: Pod, metadata: {name: a, annotations: "        \
	"{gpugate.dev/ignore: shm-missing" annotations "}}, spec: " POD_SPEC   \
	"}"

#define REASON ", gpugate.dev/ignore-reason: r"

static const struct {
	const char *mode, *rules, *terms, *object, *says;
} refusals[] = {
	{"enforce", "bare-gpu-pod", "namespaces: [ml]", A_POD(""),
	 "gpugate.dev/ignore: `shm-missing` is not suppressed: "},
	{"enforce", "shm-missing", "namespaces: [x]", A_POD(""),
	 "gpugate.dev/ignore: `shm-missing` is not suppressed: "},
	{"enforce", "shm-missing", "requireReason: true", A_POD(""),
	 "the policy requires `gpugate.dev/ignore-reason`; ask #gpu"},
	{"enforce", "shm-missing", "maxDays: 3", A_POD(REASON),
	 "the policy requires `gpugate.dev/ignore-until`"},
	{"enforce", "shm-missing", "maxDays: 3",
	 A_POD(REASON ", gpugate.dev/ignore-until: '2020-01-31'"),
	 "it expired on 2020-01-31; ask #gpu"},
	{"enforce", "shm-missing", "namespaces: [ml]", A_POD(REASON), NULL},
	{"audit", "bare-gpu-pod", "namespaces: [ml]", A_POD(""), NULL},
};

/* Only /mutate sees a finding that is patched. */
static void refusals_state_why(void **state)
{
	struct stage *s = *state;
	struct ask ask = {ADMISSION_MUTATE, "CREATE", "", "Pod", "", NULL};
	char policy[500];

	for (size_t i = 0; i < sizeof(refusals) / sizeof(*refusals); i++) {
		snprintf(policy, sizeof(policy), PATCHES, refusals[i].mode,
			 refusals[i].rules, refusals[i].terms);
		use_policy(s, policy);
		ask.object = refusals[i].object;
		for (int path = 0; path < 2; path++) {
			ask.path = path ? ADMISSION_VALIDATE : ADMISSION_MUTATE;
			post(s, &ask);
			if (refusals[i].says)
				assert_true(says(s, refusals[i].says));
			else
				assert_false(says(s, "is not suppressed"));
		}
		if (!strcmp(refusals[i].mode, "audit"))
			assert_false(says(s, "\"warnings\""));
	}
}

/* /validate sees the object that /mutate patched. */
static void an_ignore_of_a_patched_finding_is_not_unused(void **state)
{
#define PATCHED(ignored, more)                                                 \
	"{apiVersion: v1, kind: Pod, metadata: {name: a, annotations: "        \
	"{gpugate.dev/ignore: '" ignored "'" more "}}, spec: {containers: "    \
	"[{name: c, image: a/b:1, resources: {limits: {nvidia.com/gpu: 2}}, "  \
	"volumeMounts: [{name: shm, mountPath: /dev/shm}]}], "                 \
	"volumes: [{name: shm, emptyDir: {medium: Memory, sizeLimit: 1Gi}}]}}"
	struct stage *s = *state;
	struct ask ask = {ADMISSION_VALIDATE,
			  "CREATE",
			  "",
			  "Pod",
			  "",
			  PATCHED("shm-missing", REASON)};
	char policy[500];

	snprintf(policy, sizeof(policy), PATCHES, "enforce",
		 "shm-missing, gpu-mixed-vendors", "namespaces: [ml]");
	use_policy(s, policy);
	post(s, &ask);
	assert_true(says(s, LET_IN));
	assert_false(says(s, "nothing here to suppress"));
	ask.object = PATCHED("shm-missing, gpu-mixed-vendors", REASON);
	post(s, &ask);
	assert_true(says(s, "suppress for `gpu-mixed-vendors`"));
	ask.object = PATCHED("gpu-mixed-vendors", "");
	post(s, &ask);
	assert_true(says(s, "Write `gpugate.dev/ignore: RULE`"));
}

static void a_ticket_has_a_warning(void **state)
{
#define BAD(ticket)                                                            \
	"{apiVersion: v1, kind: Pod, metadata: {name: a, annotations: "        \
	"{x/glass: '" ticket "'}}, spec: {containers: [" HALF_A_GPU("m") "]}}"
	struct stage *s = *state;
	struct ask ask = {
		ADMISSION_VALIDATE, "CREATE", "", "Pod", "", BAD(" ")};
	char policy[500];

	snprintf(policy, sizeof(policy), PATCHES, "enforce", "shm-missing",
		 "maxDays: 3");
	use_policy(s, policy);
	post(s, &ask);
	assert_true(says(s, DENIED));
	assert_true(says(s, "\"warnings\":[\"x/glass does not apply: it is "
			    "empty; it must name a ticket\""));
	ask.object = BAD("INC-1");
	post(s, &ask);
	assert_true(says(s, DENIED));
	assert_true(says(s, "you are in none of the groups"));
	s->user = "alice', groups: [oncall], uid: '1";
	post(s, &ask);
	assert_true(says(s, LET_IN));
	assert_true(says(s, "\"warnings\":[\"x/glass: admitted by ticket "
			    "INC-1\""));
	snprintf(policy, sizeof(policy), PATCHES, "audit", "shm-missing",
		 "maxDays: 3");
	use_policy(s, policy);
	post(s, &ask);
	assert_false(says(s, "\"warnings\""));
	ask.object = BAD("");
	post(s, &ask);
	assert_false(says(s, "\"warnings\""));
}

#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, setup_recommended, stage_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_denial_loses_nothing),
		TEST(a_long_value_is_cut),
		TEST(a_finding_may_have_no_help),
		TEST(unread_objects_have_a_uid_too),
		TEST(warnings_split_between_words),
		TEST(refusals_state_why),
		TEST(an_ignore_of_a_patched_finding_is_not_unused),
		TEST(a_ticket_has_a_warning),
	};

	return cmocka_run_group_tests_name("admission_text", tests, NULL, NULL);
}
