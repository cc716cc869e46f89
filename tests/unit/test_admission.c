/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Admission with the real rules: the count of requests that are allowed without
 * a check, the warning that says where an owner's ignore annotation must be,
 * patches of several rounds, exemptions that expire, and objects that cannot be
 * read.
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

#include "ask_fixture.h"
#include "certs/ssl.h"
#include "engine/registry.h"
#include "metrics_reading.h"

static double figure(const struct stage *s, const char *name)
{
	return metrics_figure(s->metrics, name);
}

static const char scale[] =
	"{apiVersion: autoscaling/v1, kind: Scale, metadata: {name: a}, "
	"spec: {replicas: 900}}";
/* A Pod with half a GPU, which is denied wherever it is checked. */
static const char wrong[] = "{apiVersion: v1, kind: Pod, metadata: {name: a}, "
			    "spec: {containers: [{name: m, image: r/a:1, "
			    "resources: {limits: {nvidia.com/gpu: '0.5'}}}]}}";

static const struct {
	const char *reason; /* NULL: the object is checked */
	struct ask ask;
	bool allowed;
} asks[] = {
	{"scale",
	 {ADMISSION_VALIDATE, "UPDATE", "autoscaling", "Scale", "scale", scale},
	 true},
	{"scale",
	 {ADMISSION_MUTATE, "UPDATE", "autoscaling", "Scale", "scale", scale},
	 true},
	{"subresource",
	 {ADMISSION_VALIDATE, "UPDATE", "", "Pod", "status", wrong},
	 true},
	{"subresource",
	 {ADMISSION_VALIDATE, "CREATE", "", "Binding", "binding", "{}"},
	 true},
	{"operation",
	 {ADMISSION_VALIDATE, "DELETE", "", "Pod", "", "null"},
	 true},
	{"operation",
	 {ADMISSION_VALIDATE, "CONNECT", "", "Pod", "exec", "{}"},
	 true},
	{"operation", {ADMISSION_VALIDATE, "", "", "Pod", "", wrong}, true},
	{"no_patch", {ADMISSION_MUTATE, "UPDATE", "", "Pod", "", wrong}, true},
	{NULL, {ADMISSION_VALIDATE, "CREATE", "", "Pod", "", wrong}, false},
	{NULL, {ADMISSION_VALIDATE, "UPDATE", "", "Pod", "", wrong}, false},
	{NULL,
	 {ADMISSION_VALIDATE, "UPDATE", "", "Pod", "resize", wrong},
	 false},
	{NULL, {ADMISSION_MUTATE, "CREATE", "", "Pod", "", wrong}, true},
};

static void requests_without_a_check_are_counted(void **state)
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
		assert_int_equal(says(s, LET_IN), asks[i].allowed);
	}
}

/* --- ignore annotations of owners ----------------------------------------- */

static const char grants[] = "apiVersion: gpugate.dev/v1\nkind: Policy\n"
			     "platform: {gpuTaints: [nvidia.com/gpu]}\nrules:\n"
			     "  shm-missing: {action: patch}\n"
			     "  job-backoff-unbounded: {action: deny}\n"
			     "suppressions:\n"
			     "  annotations:\n"
			     "    rules: [shm-missing, job-backoff-unbounded]\n"
			     "    namespaces: [ml]\n";

static const struct {
	const char *what, *object;
	bool suppressed, reported;
} owners[] = {
	{"no ignore", JOB("", ""), false, false},
	{"on the object", JOB(IGNORE("shm-missing"), ""), true, true},
	{"on the template", JOB("", IGNORE("shm-missing")), true, false},
	{"on both", JOB(IGNORE("shm-missing"), IGNORE("shm-missing")), true,
	 false},
	{"of everything", JOB(IGNORE("all"), ""), true, true},
	{"of another rule", JOB(IGNORE("job-backoff-unbounded"), ""), false,
	 false},
};

static void an_ignore_out_of_reach_is_reported(void **state)
{
	static const char warning[] =
		"gpugate.dev/ignore of shm-missing is on the object, not on "
		"its pod template: its Pods do not have it";
	struct stage *s = *state;

	use_policy(s, grants);
	assert_true(sizeof(warning) <= 121);
	for (size_t i = 0; i < sizeof(owners) / sizeof(*owners); i++) {
		struct ask ask = {.path = ADMISSION_VALIDATE,
				  .operation = "CREATE",
				  .group = "batch",
				  .kind = "Job",
				  .subresource = "",
				  .object = owners[i].object};

		post(s, &ask);
		print_message("  %s\n", owners[i].what);
		assert_true(says(s, LET_IN));
		assert_int_equal(says(s, SUPPRESSED "shm-missing\""),
				 owners[i].suppressed);
		assert_int_equal(says(s, warning), owners[i].reported);
		ask.path = ADMISSION_MUTATE;
		post(s, &ask);
		assert_false(says(s, warning));
	}
	/* Without a patch of the Pods, the ignore is not reported. */
	admission_set_policy(s->admission,
			     policy_default(&s->rules, "recommended"));
	for (size_t i = 0; i < sizeof(owners) / sizeof(*owners); i++) {
		struct ask ask = {.path = ADMISSION_VALIDATE,
				  .operation = "CREATE",
				  .group = "batch",
				  .kind = "Job",
				  .subresource = "",
				  .object = owners[i].object};

		post(s, &ask);
		assert_false(says(s, warning));
	}
}

/* Values that the cluster adds later are not missing. */
static void injected_values_are_not_missing(void **state)
{
#define ADDS(where)                                                            \
	"apiVersion: gpugate.dev/v1\nkind: Policy\n"                           \
	"platform: {gpuTaints: [nvidia.com/gpu]}\n"                            \
	"rules:\n  gpu-toleration-missing: {severity: error, action: deny}\n"  \
	"injected:\n- namespaces: [" where "]\n"                               \
	"  tolerations: [{key: nvidia.com/gpu, operator: Exists}]\n"
	struct stage *s = *state;
	const struct ask ask = {.path = ADMISSION_VALIDATE,
				.operation = "CREATE",
				.group = "batch",
				.kind = "Job",
				.subresource = "",
				.object = JOB("", "")};

	use_policy(s, ADDS("other"));
	post(s, &ask);
	assert_true(says(s, "gpu-toleration-missing"));
	assert_false(says(s, LET_IN));
	use_policy(s, ADDS("'m*'"));
	post(s, &ask);
	assert_false(says(s, "gpu-toleration-missing"));
	assert_true(says(s, LET_IN));
}

#define OWNED                                                                  \
	", ownerReferences: [{apiVersion: batch/v1, kind: Job, name: a, "      \
	"uid: '1', controller: true}]"
#define POD(own)                                                               \
	"{apiVersion: v1, kind: Pod, metadata: {name: a-1" OWNED own           \
	"}, spec: " POD_SPEC "}"

/* The Job controller copies annotations of its template to each Pod, where they
 * suppress findings. */
static void a_templates_ignore_holds_for_its_pods(void **state)
{
	static const char controller[] =
		"system:serviceaccount:kube-system:job-controller";
	struct stage *s = *state;
	struct ask ask = {ADMISSION_MUTATE, "CREATE", "", "Pod", "", POD("")};

	s->user = controller;
	use_policy(s, grants);
	post(s, &ask);
	assert_true(says(s, "patched by shm-missing"));
	ask.object = POD(IGNORE("shm-missing"));
	post(s, &ask);
	assert_false(says(s, "patched by shm-missing"));
	assert_true(says(s, "patched by gpu-toleration-missing"));
	ask.path = ADMISSION_VALIDATE;
	post(s, &ask);
	assert_true(says(s, SUPPRESSED "shm-missing\""));
	assert_false(says(s, "on the pod template"));
}

/* --- rules that /mutate runs ---------------------------------------------- */

/* A Pod without /dev/shm, which is patched, and with half a GPU, which is
 * denied. */
#define TORN_POD(own)                                                          \
	"{apiVersion: v1, kind: Pod, metadata: {name: a" own                   \
	"}, spec: {restartPolicy: Never, containers: ["                        \
	"{name: m, image: r/a:1, "                                             \
	"resources: {limits: {cpu: '8', nvidia.com/gpu: 2}}}, "                \
	"{name: 'n', image: r/b:1, "                                           \
	"resources: {limits: {nvidia.com/gpu: '0.5'}}}]}}"

static void a_denied_pod_is_patched_too(void **state)
{
	struct stage *s = *state;
	struct ask ask = {ADMISSION_MUTATE, "CREATE", "", "Pod", "",
			  TORN_POD("")};

	use_policy(s, grants);
	post(s, &ask);
	assert_true(says(s, "patched by shm-missing"));
	assert_true(says(s, "\"patchType\":\"JSONPatch\""));
	ask.path = ADMISSION_VALIDATE;
	post(s, &ask);
	assert_true(says(s, DENIED));
	assert_true(says(s, "gpu-fractional-quantity"));
}

static void patch_of(const struct stage *s, struct buf *out)
{
	static const char name[] = "\"patch\":\"";
	const char *at =
		memmem(s->reply.body, s->reply.len, name, strlen(name));

	buf_init(out);
	assert_non_null(at);
	at += strlen(name);
	assert_int_equal(base64_read(at, strcspn(at, "\""), out), 0);
}

/* A volume for /dev/shm is only required after the first patch removes
 * hostIPC. */
static void a_patch_may_cause_another_patch(void **state)
{
	static const char opted_in[] =
		"apiVersion: gpugate.dev/v1\nkind: Policy\nrules:\n"
		"  hostipc-instead-of-shm: {action: patch}\n"
		"  shm-volume-unmounted: {action: patch}\n";
	struct stage *s = *state;
	struct ask ask = {ADMISSION_MUTATE,
			  "CREATE",
			  "",
			  "Pod",
			  "",
			  "{apiVersion: v1, kind: Pod, metadata: {name: a}, "
			  "spec: {hostIPC: true, restartPolicy: Never, "
			  "volumes: [{name: dshm, emptyDir: {medium: Memory, "
			  "sizeLimit: 16Gi}}], "
			  "containers: [{name: m, image: r/a:1, "
			  "resources: {limits: {cpu: '8', memory: 64Gi, "
			  "nvidia.com/gpu: 2}}}]}}"};
	struct buf patch;

	use_policy(s, opted_in);
	post(s, &ask);
	assert_true(says(s, "patched by hostipc-instead-of-shm"));
	assert_true(says(s, "patched by shm-volume-unmounted"));
	patch_of(s, &patch);
	assert_non_null(strstr(patch.data, "\"/spec/hostIPC\""));
	assert_non_null(strstr(patch.data, "\"mountPath\":\"/dev/shm\""));
	assert_non_null(strstr(patch.data, "\"name\":\"dshm\""));
	buf_release(&patch);
}

/* /mutate also reports findings of rules that neither patch nor deny. */
static void mutate_reports_suppressions(void **state)
{
	static const char granted[] =
		"apiVersion: gpugate.dev/v1\nkind: Policy\nrules:\n"
		"  shm-missing: {action: patch}\n"
		"  bare-gpu-pod: {action: warn}\n"
		"suppressions: {annotations: {rules: [bare-gpu-pod]}}\n";
	static const char exempt[] =
		"apiVersion: gpugate.dev/v1\nkind: Policy\nrules:\n"
		"  shm-missing: {action: patch}\n"
		"  bare-gpu-pod: {action: warn}\n"
		"exempt: [{namespaces: [ml], rules: [bare-gpu-pod], reason: r}]"
		"\n";
	struct stage *s = *state;
	struct ask ask = {ADMISSION_MUTATE,
			  "CREATE",
			  "",
			  "Pod",
			  "",
			  TORN_POD(IGNORE("bare-gpu-pod"))};

	use_policy(s, granted);
	post(s, &ask);
	assert_true(says(s, SUPPRESSED "bare-gpu-pod\""));
	ask.object = TORN_POD("");
	post(s, &ask);
	assert_false(says(s, "bare-gpu-pod"));
	use_policy(s, exempt);
	post(s, &ask);
	assert_true(says(s, SUPPRESSED "bare-gpu-pod\""));
}

/* --- exemptions that expire ----------------------------------------------- */

static const char exempts[] =
	"apiVersion: gpugate.dev/v1\nkind: Policy\nrules:\n"
	"  shm-missing: {action: patch}\nexempt:\n- {namespaces: [ml], rules: "
	"[shm-missing, gpu-request-limit-mismatch], reason: r, until: 2099-01-10}\n";

/* An exemption ends although the policy was loaded long before. */
static void an_exemption_expires_while_the_policy_is_loaded(void **state)
{
	static const struct {
		int64_t day; /* day in January 2099 */
		bool suppressed, patched, denied;
	} days[] = {
		{9, true, false, false},   {10, true, false, false},
		{11, false, false, false}, {17, false, false, false},
		{18, false, true, true},
	};
	struct ask patch = {ADMISSION_MUTATE, "CREATE", "", "Pod", "", NULL};
	struct ask deny = {ADMISSION_VALIDATE, "CREATE", "", "Pod", "", NULL};
	struct stage *s = *state;
	struct admission_options options = {
		.rules = &s->rules, .metrics = s->metrics, .log = s->log};

	patch.object = POD("");
	deny.object = "{apiVersion: v1, kind: Pod, metadata: {name: a}, "
		      "spec: {containers: [{name: m, image: r/a:1, "
		      "resources: {requests: {nvidia.com/gpu: 2}, "
		      "limits: {nvidia.com/gpu: 1}}}]}}";
	for (size_t i = 0; i < sizeof(days) / sizeof(*days); i++) {
		admission_worker_free(s->worker);
		admission_free(s->admission);
		/* 2099-01-01 */
		options.now = (47117 + days[i].day - 1) * 86400;
		s->admission = admission_new(&options);
		s->worker = admission_worker_new(s->admission);
		use_policy(s, exempts);
		post(s, &patch);
		print_message("  day %d: %.*s\n", (int)days[i].day,
			      (int)s->reply.len, s->reply.body);
		assert_int_equal(says(s, "patched by shm-missing"),
				 days[i].patched);
		assert_int_equal(says(s, SUPPRESSED "shm-missing"),
				 days[i].suppressed);
		post(s, &deny);
		print_message("  %.*s\n", (int)s->reply.len, s->reply.body);
		assert_int_equal(says(s, DENIED), days[i].denied);
	}
}

/* --- texts from users ----------------------------------------------------- */

/* The API server drops a warning with a control character (Go's
 * unicode.IsControl), so a name could hide warnings about it. */
static void no_control_character_hides_a_warning(void **state)
{
	struct stage *s = *state;
	struct ask ask = {
		ADMISSION_VALIDATE,
		"CREATE",
		"",
		"Pod",
		"",
		"{apiVersion: v1, kind: Pod, metadata: {name: a}, "
		"spec: {restartPolicy: Never, containers: [{"
		"name: \"m\\u0085\\u009f\\n\\u007f\\u00a0\u00e9\", "
		"image: r/a:1, command: [torchrun], resources: {"
		"limits: {cpu: '8', memory: 64Gi, nvidia.com/gpu: 2}}}]}}"};

	use_policy(s, "apiVersion: gpugate.dev/v1\nkind: Policy\nrules:\n"
		      "  shm-missing: {action: warn}\n");
	post(s, &ask);
	print_message("  %.*s\n", (int)s->reply.len, s->reply.body);
	assert_true(says(s, "shm-missing: container `m"));
	assert_false(says(s, "\xc2\x85"));
	assert_false(says(s, "\xc2\x9f"));
	assert_false(says(s, "\\u00"));
	assert_true(says(s, "\xc2\xa0\xc3\xa9`"));
}

/* --- unreadable objects --------------------------------------------------- */

#define DEEP "{apiVersion: v1, kind: Pod, metadata: {}, a: " NO_NUMBER "}"

static const char by_namespace[] =
	"apiVersion: gpugate.dev/v1\nkind: Policy\nmode: %s\noverrides:\n"
	"- {namespaces: [ml], kinds: [Pod], mode: %s}\n";

static const struct {
	const char *mode, *there;
	struct ask ask;
	const char *says;
} unread[] = {
	{"audit",
	 "enforce",
	 {ADMISSION_VALIDATE, "CREATE", "", "Pod", "", DEEP},
	 DENIED},
	{"audit",
	 "enforce",
	 {ADMISSION_MUTATE, "CREATE", "", "Pod", "", DEEP},
	 DENIED},
	{"audit",
	 "enforce",
	 {ADMISSION_VALIDATE, "CREATE", "batch", "Job", "", DEEP},
	 "\"would-deny\":\"invalid-syntax\""},
	{"enforce",
	 "audit",
	 {ADMISSION_VALIDATE, "CREATE", "", "Pod", "", DEEP},
	 "\"would-deny\":\"invalid-syntax\""},
	{"enforce",
	 "warn",
	 {ADMISSION_VALIDATE, "CREATE", "", "Pod", "", DEEP},
	 "\"warnings\":[\"invalid-syntax: "},
	{"audit",
	 "enforce",
	 {ADMISSION_VALIDATE, "CREATE", "", "Pod", "", "null"},
	 "request.object is missing"},
	/* The object of a request that is not checked need not be readable. */
	{"enforce",
	 "enforce",
	 {ADMISSION_VALIDATE, "DELETE", "", "Pod", "", DEEP},
	 LET_IN},
	{"enforce",
	 "enforce",
	 {ADMISSION_VALIDATE, "UPDATE", "", "Pod", "status", DEEP},
	 LET_IN},
};

static void the_namespace_sets_the_mode_for_unreadable_objects(void **state)
{
	struct stage *s = *state;
	char policy[200];

	for (size_t i = 0; i < sizeof(unread) / sizeof(*unread); i++) {
		snprintf(policy, sizeof(policy), by_namespace, unread[i].mode,
			 unread[i].there);
		use_policy(s, policy);
		post(s, &unread[i].ask);
		print_message("  %s, here %s: %.*s\n", unread[i].mode,
			      unread[i].there, (int)s->reply.len,
			      s->reply.body);
		assert_true(says(s, unread[i].says));
	}
}

static void an_unreadable_object_that_is_deleted_is_not_denied(void **state)
{
	struct stage *s = *state;
	struct buf request, body;

	buf_init(&request);
	buf_init(&body);
	buf_adds(&request, "operation: UPDATE, oldObject: {metadata: {"
			   "deletionTimestamp: '2026-01-01T00:00:00Z'}}, "
			   "object: {a: [{}");
	for (int i = 0; i < 3000; i++)
		buf_adds(&request, ", {}");
	buf_adds(&request, "]}");
	review_json(&body, request.data);
	buf_release(&request);
	admission_review(s->worker, ADMISSION_VALIDATE, body.data, body.len,
			 &s->reply);
	assert_true(says(s, LET_IN));
	assert_true(says(s, "too long to be checked"));
	/* Without deletionTimestamp, such a review is denied. */
	memcpy(strstr(body.data, "deletionT"), "creationT", 9);
	admission_review(s->worker, ADMISSION_VALIDATE, body.data, body.len,
			 &s->reply);
	assert_true(says(s, DENIED));
	buf_release(&body);
}

static void a_long_review_is_denied_by_its_beginning(void **state)
{
	static const char problem[] = "longer than --max-body";
	struct stage *s = *state;
	struct buf body;
	size_t len;

	buf_init(&body);
	review_json(&body,
		    "operation: CREATE, namespace: ml, object: {a: <<<<}");
	len = (size_t)(strstr(body.data, "<<<<") + 4 - body.data);
	assert_true(admission_review_start(
		s->worker, ADMISSION_VALIDATE,
		&(struct review_start){body.data, len, problem}, &s->reply));
	assert_int_equal(s->reply.status, 200);
	assert_true(says(s, "\"uid\":\"u-1\"," DENIED));
	assert_true(says(s, problem));
	assert_false(admission_review_start(
		s->worker, ADMISSION_VALIDATE,
		&(struct review_start){"<<", 2, problem}, &s->reply));
	use_policy(s,
		   "apiVersion: gpugate.dev/v1\nkind: Policy\nmode: audit\n");
	assert_true(admission_review_start(
		s->worker, ADMISSION_VALIDATE,
		&(struct review_start){body.data, len, problem}, &s->reply));
	assert_true(says(s, "\"uid\":\"u-1\"," LET_IN));
	buf_release(&body);
}

#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, setup_recommended, stage_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(requests_without_a_check_are_counted),
		TEST(an_ignore_out_of_reach_is_reported),
		TEST(injected_values_are_not_missing),
		TEST(a_templates_ignore_holds_for_its_pods),
		TEST(a_denied_pod_is_patched_too),
		TEST(a_patch_may_cause_another_patch),
		TEST(mutate_reports_suppressions),
		TEST(an_exemption_expires_while_the_policy_is_loaded),
		TEST(no_control_character_hides_a_warning),
		TEST(the_namespace_sets_the_mode_for_unreadable_objects),
		TEST(an_unreadable_object_that_is_deleted_is_not_denied),
		TEST(a_long_review_is_denied_by_its_beginning),
	};

	return cmocka_run_group_tests_name("admission", tests, NULL, NULL);
}
