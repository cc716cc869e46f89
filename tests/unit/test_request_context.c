/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The outcome of a finding depends on the request (its user, and the kind of
 * change). Each case is tested with its opposite, and its entries in the log
 * and the metrics.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/registry.h"
#include "metrics_reading.h"
#include "review_fixture.h"

static const char policy[] =
	"apiVersion: gpugate.dev/v1\nkind: Policy\ncontact: \"#gpu\"\n"
	"patchOwners: true\n"
	"rules:\n"
	"  bare-gpu-pod: off\n"
	"  gpu-node-selector-missing: off\n"
	"  priority-class-missing: off\n"
	"  shm-missing: {action: patch}\n"
	"  gpu-fractional-quantity: {action: deny}\n"
	"  gpu-toleration-missing: {action: deny}\n"
	"  job-backoff-unbounded: {action: deny}\n"
	"  nvidia-visible-devices-override: {action: deny}\n"
	"controllers: [\"system:serviceaccount:ml:ops\"]\n"
	"breakGlass: {groups: [oncall], annotation: t/glass}\n"
	"suppressions: {annotations: {rules: [gpu-fractional-quantity], "
	"namespaces: [ml]}}\n"
	"overrides: [{namespaces: [trial], mode: audit}]\n";

static void use_policy_text(struct stage *s, const char *text)
{
	const struct policy_text file = {"policy.yaml", text, strlen(text)};
	struct policy_options options = {.admission = true};
	struct policy_problems problems = {0};
	struct policy *made =
		policy_parse(&s->rules, &file, &options, &problems);

	for (size_t i = 0; i < problems.n; i++)
		print_message("  %s\n", problems.items[i].text);
	policy_problems_release(&problems);
	assert_non_null(made);
	admission_set_policy(s->admission, made);
}

static void use_policy(struct stage *s)
{
	use_policy_text(s, policy);
}

static int setup(void **state)
{
	struct stage *s = calloc(1, sizeof(*s));

	stage_begin(s, memfd_create("log", MFD_CLOEXEC), LOG_INFO, true);
	*state = s;
	return 0;
}

static void post(struct stage *s, enum admission_path path, const char *request)
{
	struct buf body;

	buf_init(&body);
	review_json(&body, request);
	admission_review(s->worker, path, body.data, body.len, &s->reply);
	buf_release(&body);
}

/* --- parts of requests ---------------------------------------------------- */

#define USER(name, groups)                                                     \
	"userInfo: {username: \"" name "\", groups: [" groups "]}, "
#define ALICE USER("alice", "staff")
#define KUBE  USER("system:serviceaccount:kube-system:job-controller", "")
#define IS_IN(namespace, group, name)                                          \
	"kind: {group: '" group "', version: v1, kind: " name "}, name: a, "   \
	"namespace: " namespace ", "
#define IS(group, name)	      IS_IN("ml", group, name)
#define CREATE_(kind, object) "operation: CREATE, " kind "object: " object
#define UPDATE_(kind, object, old)                                             \
	"operation: UPDATE, " kind "object: " object ", oldObject: " old
#define DEBUG	 "subResource: ephemeralcontainers, "
#define A_POD	 IS("", "Pod")
#define A_JOB	 IS("batch", "Job")
#define TRAINING IS("kubeflow.org", "PyTorchJob")
#define SPEC(gpus, more)                                                       \
	"{restartPolicy: Never, tolerations: [{operator: Exists}], "           \
	"containers: [{name: m, image: r/a:1, resources: {limits: {"           \
	"cpu: '8', memory: 64Gi, nvidia.com/gpu: " gpus "}}" more "}]}"
#define POD(own, gpus, more)                                                   \
	"{apiVersion: v1, kind: Pod, metadata: {name: a" own                   \
	"}, spec: " SPEC(gpus, more) "}"
#define BAD(own) POD(own, "'0.5'", "")
#define JOB(own, spec)                                                         \
	"{apiVersion: batch/v1, kind: Job, metadata: {name: a" own             \
	"}, spec: {" spec "template: {spec: " SPEC("2", "") "}}}"
#define TRAIN(spec, replicas)                                                   \
	"{apiVersion: kubeflow.org/v1, kind: PyTorchJob, metadata: {name: a}, " \
	"spec: {" spec "pytorchReplicaSpecs: {Worker: {replicas: " replicas     \
	", template: {spec: " SPEC("2", "") "}}}}}"
#define OWNER(kind, controls)                                                  \
	", ownerReferences: [{apiVersion: batch/v1, kind: " kind               \
	", name: o, uid: '1', controller: " controls "}]"
#define OWNED		 OWNER("Job", "true")
#define NOTE(key, value) ", annotations: {" key ": \"" value "\"}"
#define LABEL(key)	 ", labels: {" key ": x}"
#define IGNORE_OF(rule)                                                        \
	", annotations: {gpugate.dev/ignore: " rule                            \
	", gpugate.dev/ignore-reason: r}"
#define IGNORE	IGNORE_OF("gpu-fractional-quantity")
#define LEAVING ", deletionTimestamp: '2026-01-01T00:00:00Z'"
#define SPY	", env: [{name: NVIDIA_VISIBLE_DEVICES, value: all}]"
#define HALF	"\"gpu-fractional-quantity: "

struct row {
	const char *what;
	enum admission_path path;
	const char *request;
	/* `not` is a text that the reply must not contain, or NULL */
	const char *says, *not ;
};

static void try_rows(struct stage *s, const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		post(s, rows[i].path, rows[i].request);
		print_message("  %s: %.*s\n", rows[i].what, (int)s->reply.len,
			      s->reply.body);
		assert_int_equal(s->reply.status, 200);
		assert_true(says(s, rows[i].says));
		assert_false(rows[i].not &&says(s, rows[i].not ));
	}
}

#define TRY(state, rows)                                                       \
	(use_policy(state), try_rows(state, rows, sizeof(rows) / sizeof(*rows)))

/* --- users ---------------------------------------------------------------- */

#define BY(user, object) ADMISSION_VALIDATE, CREATE_(A_POD user, object)

static const struct row makers[] = {
	{"a user", BY(ALICE, BAD("")), DENIED, NULL},
	{"a user with a forged owner", BY(ALICE, BAD(OWNED)), DENIED, NULL},
	{"a controller", BY(KUBE, BAD(OWNED)), LET_IN, "\"warnings\""},
	{"is audited", BY(KUBE, BAD(OWNED)),
	 "\"rules\":\"gpu-fractional-quantity", NULL},
	{"the controller manager",
	 BY(USER("system:kube-controller-manager", ""), BAD(OWNED)), LET_IN,
	 NULL},
	{"its name, followed by a NUL and more text",
	 BY(USER("system:kube-controller-manager\\u0000x", ""), BAD(OWNED)),
	 DENIED, NULL},
	{"an account that the policy lists",
	 BY(USER("system:serviceaccount:ml:ops", ""), BAD(OWNED)), LET_IN,
	 NULL},
	{"an account of a namespace like kube-system",
	 BY(USER("system:serviceaccount:kube-systems:x", ""), BAD(OWNED)),
	 DENIED, NULL},
	{"a controller's Pod without an owner", BY(KUBE, BAD("")), DENIED,
	 NULL},
	{"of an owner that does not control it",
	 BY(KUBE, BAD(OWNER("Job", "false"))), DENIED, NULL},
	{"of an owner whose kind is not checked",
	 BY(KUBE, BAD(OWNER("Lease", "true"))), DENIED, NULL},
};

#define REFUSED IGNORE_OF("nvidia-visible-devices-override")

static const struct row words[] = {
	{"an ignore that the policy does not grant",
	 BY(ALICE, POD(REFUSED, "1", SPY)),
	 "gpugate.dev/ignore: `nvidia-visible-devices-override` is not suppressed: ",
	 LET_IN},
	{"is reported once", ADMISSION_MUTATE,
	 CREATE_(A_POD ALICE, POD(REFUSED, "1", SPY)), LET_IN,
	 "not suppressed"},
	{"and only to users, not to controllers",
	 BY(KUBE, POD(REFUSED OWNED, "1", SPY)), LET_IN, "not suppressed"},
	{"a Pod without findings",
	 BY(ALICE, "{apiVersion: v1, kind: Pod, spec: {}}"), LET_IN,
	 "auditAnnotations"},
	{"a debug container", BY(ALICE DEBUG, BAD("")), DENIED, NULL},
};

static void refusals_are_reported_once(void **state)
{
	TRY(*state, words);
}

static void pods_of_controllers_are_not_denied(void **state)
{
	TRY(*state, makers);
}

#define ANY    "apiVersion: gpugate.dev/v1\nkind: Policy\n"
#define PLAIN  ANY "platform: {deviceInjection: envvar}\n"
#define TAKEN  BY(KUBE, POD(OWNED, "1", SPY))
#define NO_SPY BY(KUBE, BAD(OWNED))
#define STRICT "extends: [strict]\n"

static const struct {
	const char *policy;
	bool deny;
} controller_policies[] = {
	{PLAIN, false},
	{PLAIN "controllerPods: audit\n", false},
	{PLAIN "controllerPods: deny\n", true},
	{PLAIN "controllerPods: deny\nmode: audit\n", false},
	{PLAIN STRICT, true},
	{ANY STRICT, true},
	{ANY "controllerPods: deny\n", false},
	{PLAIN STRICT "controllerPods: audit\n", false},
	{PLAIN "overrides: [{namespaces: [ml], preset: strict}]\n", true},
	{PLAIN "overrides: [{namespaces: [mx], preset: strict}]\n", false},
};

/* Uncounted devices are denied if the policy requires it; half a GPU never,
 * because the owner was checked for that. */
static void devices_of_controllers_pods_may_be_denied(void **state)
{
	static const struct row taken[] = {{"devices", TAKEN, DENIED, NULL}};
	static const struct row let_in[] = {{"devices", TAKEN, LET_IN, NULL}};
	static const struct row counted[] = {{"half", NO_SPY, LET_IN, NULL}};
	struct stage *s = *state;

	for (size_t i = 0;
	     i < sizeof(controller_policies) / sizeof(*controller_policies);
	     i++) {
		use_policy_text(s, controller_policies[i].policy);
		try_rows(s, controller_policies[i].deny ? taken : let_in, 1);
		try_rows(s, counted, 1);
	}
}

#define GLASS(groups, ticket)                                                  \
	BY(USER("bob", groups), BAD(NOTE("t/glass", ticket)))

static const struct row tickets[] = {
	{"group and ticket", GLASS("staff, oncall", "INC-1"), LET_IN, NULL},
	{"is reported", GLASS("oncall", "INC-1"), "," HALF, NULL},
	{"and noted", GLASS("oncall", "INC-1"), "\"break-glass\":\"INC-1\"",
	 NULL},
	{"no ticket", GLASS("oncall", " \\t\\n"), DENIED, NULL},
	{"no group", GLASS("", "INC-1"), DENIED, NULL},
	{"another group", GLASS("oncall2", "INC-1"), DENIED, NULL},
	{"no annotation", BY(USER("bob", "oncall"), BAD("")), DENIED, NULL},
};

static void a_ticket_prevents_a_denial(void **state)
{
	struct stage *s = *state;

	TRY(s, tickets);
	assert_true(metrics_figure(s->metrics, "gpugate_break_glass_total") ==
		    3);
}

/* --- patches -------------------------------------------------------------- */

#define MEND(user, kind, object) ADMISSION_MUTATE, CREATE_(kind user, object)
#define PATCHED			 "\"patchType\""
#define KEPT(own)		 MEND(ALICE, A_JOB, JOB(own, "backoffLimit: 1, "))
#define SYNC(user)		 MEND(USER(user, ""), A_JOB, JOB("", "backoffLimit: 1, "))

static const struct row patches[] = {
	{"a Pod", MEND(ALICE, A_POD, POD("", "2", "")), PATCHED, NULL},
	{"the kubelet's own",
	 MEND(ALICE, A_POD,
	      POD(NOTE("kubernetes.io/config.mirror", "x"), "2", "")),
	 LET_IN, PATCHED},
	{"a subresource", MEND(ALICE DEBUG, A_POD, POD("", "2", "")), LET_IN,
	 PATCHED},
	{"an update", ADMISSION_MUTATE,
	 UPDATE_(A_POD ALICE, POD("", "2", ""), POD("", "1", "")), LET_IN,
	 PATCHED},
	{"an owner", KEPT(""), PATCHED, NULL},
	{"tracked by Argo CD",
	 KEPT(NOTE("argocd.argoproj.io/tracking-id", "x")), LET_IN, PATCHED},
	{"labeled by it", KEPT(LABEL("argocd.argoproj.io/instance")), LET_IN,
	 PATCHED},
	{"by Flux", KEPT(LABEL("kustomize.toolkit.fluxcd.io/name")), LET_IN,
	 PATCHED},
	{"by its Helm", KEPT(LABEL("helm.toolkit.fluxcd.io/name")), LET_IN,
	 PATCHED},
	{"made by Argo CD",
	 SYNC("system:serviceaccount:argo:argocd-application-controller"),
	 LET_IN, PATCHED},
	{"by Flux's Kustomize",
	 SYNC("system:serviceaccount:flux-system:kustomize-controller"), LET_IN,
	 PATCHED},
	{"by its Helm",
	 SYNC("system:serviceaccount:flux-system:helm-controller"), LET_IN,
	 PATCHED},
};

static void objects_of_gitops_tools_are_not_patched(void **state)
{
	TRY(*state, patches);
}

/* --- updates -------------------------------------------------------------- */

#define WITH_MORE                                                              \
	"{x: 1, apiVersion: v1, kind: Pod, metadata: {name: a" IGNORE          \
	"}, spec: " SPEC("'0.5'", "") "}"
#define POD_UPDATE(now, old) ADMISSION_VALIDATE, UPDATE_(A_POD ALICE, now, old)
/* Half a GPU, in a Job. */
#define HALVES(own, suspend)                                                   \
	"{apiVersion: batch/v1, kind: Job, metadata: {name: a" own             \
	"}, spec: {suspend: " suspend                                          \
	", backoffLimit: 1, template: {spec: " SPEC("'0.5'", "") "}}}"
#define RESUMED(user, own)                                                     \
	ADMISSION_VALIDATE,                                                    \
		UPDATE_(A_JOB user, HALVES(own, "false"), HALVES(own, "true"))
#define BOUNDED "runPolicy: {backoffLimit: 1}, "
#define TRAIN_UPDATE(now, n, old, m)                                           \
	ADMISSION_VALIDATE,                                                    \
		UPDATE_(TRAINING ALICE, TRAIN(now, n), TRAIN(old, m))

static const struct row changes[] = {
	{"what is new", POD_UPDATE(BAD(""), POD("", "1", "")), DENIED, NULL},
	{"what is known", POD_UPDATE(BAD(LABEL("a")), BAD("")),
	 "\"warnings\":[" HALF, DENIED},
	{"what goes, with another spec",
	 POD_UPDATE(BAD(LEAVING), POD(LEAVING, "1", "")), DENIED, NULL},
	{"what goes, without a finalizer",
	 POD_UPDATE(BAD(LEAVING), BAD(LEAVING ", finalizers: [a/b]")), LET_IN,
	 NULL},
	{"a Pod that its queue places", ADMISSION_VALIDATE,
	 UPDATE_(A_POD KUBE, BAD(""), POD("", "1", "")), LET_IN, NULL},
	{"what says so itself", POD_UPDATE(BAD(LEAVING), POD("", "1", "")),
	 DENIED, NULL},
	{"what was suppressed", POD_UPDATE(POD("", "'0.5'", SPY), BAD(IGNORE)),
	 HALF, LET_IN},
	{"metadata alone", POD_UPDATE(BAD(""), BAD(IGNORE)), HALF, DENIED},
	{"a field is gone", POD_UPDATE(BAD(""), WITH_MORE), DENIED, NULL},
	{"known, and more of it", TRAIN_UPDATE("", "3", "", "2"), DENIED, NULL},
	{"known, and less of it", TRAIN_UPDATE("", "2", "", "3"), LET_IN, NULL},
	{"new, and less of it", TRAIN_UPDATE("", "2", BOUNDED, "3"), DENIED,
	 NULL},
	{"new, and as much", TRAIN_UPDATE("", "3", BOUNDED, "3"), DENIED, NULL},
	{"less that is counted, all that is not",
	 POD_UPDATE(POD("", "1", SPY), POD("", "2", "")), DENIED, NULL},
	{"known, at another place",
	 TRAIN_UPDATE("runPolicy: {cleanPodPolicy: Running}, ", "2", "", "2"),
	 LET_IN, DENIED},
};

static const struct row resumptions[] = {
	{"takes devices from now on", RESUMED(ALICE, ""), DENIED, NULL},
	{"by an account of controllers",
	 RESUMED(USER("system:serviceaccount:ml:ops", ""), ""), LET_IN, NULL},
	{"in a queue", RESUMED(ALICE, LABEL("kueue.x-k8s.io/queue-name")),
	 LET_IN, NULL},
	{"suspended", ADMISSION_VALIDATE,
	 UPDATE_(A_JOB ALICE, HALVES("", "true"), HALVES("", "false")), LET_IN,
	 NULL},
	{"suspended still", ADMISSION_VALIDATE,
	 UPDATE_(A_JOB ALICE, HALVES("", "true"), HALVES(LABEL("a"), "true")),
	 LET_IN, NULL},
	{"new, by an account of controllers", ADMISSION_VALIDATE,
	 UPDATE_(A_JOB KUBE, HALVES("", "false"),
		 JOB("", "suspend: true, backoffLimit: 1, ")),
	 DENIED, NULL},
};

static void resumed_pods_count_as_more_demand(void **state)
{
	TRY(*state, resumptions);
}

static void an_update_may_not_get_worse(void **state)
{
	TRY(*state, changes);
}

/* --- log, metrics, denials ------------------------------------------------ */

static bool logged(const struct stage *s, const char *text)
{
	static char log[1 << 16];
	ssize_t n = pread(s->log_fd, log, sizeof(log) - 1, 0);

	assert_true(n >= 0);
	log[n] = '\0';
	return strstr(log, text);
}

#define TRIAL(object) CREATE_(IS_IN("trial", "", "Pod") ALICE, object)

static void the_log_has_each_outcome(void **state)
{
	struct stage *s = *state;

	use_policy(s);
	post(s, ADMISSION_VALIDATE, CREATE_(A_POD KUBE, BAD(OWNED)));
	assert_true(logged(s, "\"owner\":\"Job/o\""));
	assert_true(logged(s, "\"dryRun\":false"));
	assert_false(logged(s, "\"dryRun\":true"));
	assert_false(logged(s, "\"would\""));
	post(s, ADMISSION_VALIDATE,
	     CREATE_("dryRun: true, " A_POD ALICE, BAD("")));
	assert_true(logged(s, "\"dryRun\":true"));
	assert_false(logged(s, "\"mode\":\"audit\""));
	post(s, ADMISSION_VALIDATE, TRIAL(BAD("")));
	assert_true(says(s, "\"would-deny\":\"gpu-fractional-quantity\""));
	assert_true(logged(s, "\"would\":\"deny\""));
	assert_true(logged(s, "\"mode\":\"audit\""));
	post(s, ADMISSION_MUTATE, TRIAL(POD("", "2", "")));
	assert_true(says(s, "\"would-patch\":\"shm-missing\""));
	assert_false(logged(s, "r/a:1"));
}

#define FINDINGS "gpugate_findings_total{rule=\"gpu-fractional-quantity\","

static void metrics_count_each_outcome(void **state)
{
	struct stage *s = *state;

	use_policy(s);
	post(s, ADMISSION_VALIDATE, CREATE_(A_POD ALICE, BAD(IGNORE)));
	assert_true(says(s, "\"suppressed\":\"gpu-fractional-quantity\""));
	post(s, ADMISSION_VALIDATE, CREATE_(A_POD ALICE, BAD("")));
	assert_true(metrics_figure(s->metrics, FINDINGS
				   "action=\"deny\",mode=\"enforce\","
				   "level=\"pod\",namespace=\"ml\"}") == 1);
	assert_true(metrics_figure(s->metrics, FINDINGS
				   "action=\"allow\",mode=\"enforce\","
				   "level=\"pod\",namespace=\"ml\"}") == -1);
	post(s, ADMISSION_VALIDATE,
	     CREATE_(IS_IN("gpu-operator", "", "Pod") ALICE,
		     POD("", "1", SPY)));
	assert_true(says(s, LET_IN));
	assert_true(metrics_figure(s->metrics,
				   "gpugate_not_judged_total{reason="
				   "\"infrastructure\"}") == 1);
	post(s, ADMISSION_VALIDATE, CREATE_(TRAINING ALICE, TRAIN("", "3")));
	assert_true(metrics_figure(s->metrics,
				   "gpugate_gpus_affected_total{rule="
				   "\"job-backoff-unbounded\",action="
				   "\"deny\"}") == 6);
}

/* A denial begins with an error, then has the other findings, and the contact
 * as its last line before the uid. */
static void a_denial_in_order(void **state)
{
	struct stage *s = *state;
	struct buf many;

	use_policy(s);
	buf_init(&many);
	buf_adds(&many, CREATE_(A_POD ALICE, "{apiVersion: v1, kind: Pod, "
					     "metadata: {name: a}, "
					     "spec: {containers: ["));
	for (int i = 0; i < 25; i++)
		buf_addf(&many,
			 "%s{name: m%d, image: r/a:1, "
			 "resources: {limits: {nvidia.com/gpu: '0.5'}}}",
			 i ? ", " : "", i);
	buf_adds(&many, "]}}");
	post(s, ADMISSION_VALIDATE, many.data);
	print_message("  %.*s\n", (int)s->reply.len, s->reply.body);
	assert_true(says(s, "\"message\":" HALF));
	assert_true(says(s, "\\ngpu-toleration-missing: "));
	assert_true(says(s, "container `m24` requests"));
	assert_true(says(s, "\\n#gpu\\nreview u-1\",\"reason\""));
	buf_release(&many);
}

static void without_a_policy_no_review_is_answered(void **state)
{
	struct stage *s = *state;

	post(s, ADMISSION_VALIDATE, CREATE_(A_POD ALICE, BAD("")));
	assert_int_equal(s->reply.status, 503);
	assert_int_equal(s->reply.retry_after, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, stage_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(pods_of_controllers_are_not_denied),
		TEST(devices_of_controllers_pods_may_be_denied),
		TEST(refusals_are_reported_once),
		TEST(a_ticket_prevents_a_denial),
		TEST(objects_of_gitops_tools_are_not_patched),
		TEST(resumed_pods_count_as_more_demand),
		TEST(an_update_may_not_get_worse),
		TEST(the_log_has_each_outcome),
		TEST(metrics_count_each_outcome),
		TEST(a_denial_in_order),
		TEST(without_a_policy_no_review_is_answered),
	};

	return cmocka_run_group_tests_name("request_context", tests, NULL,
					   NULL);
}
