/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects missing from the cluster state at admission. The API server is asked
 * only before a denial that depends on them. Without an answer the rule does
 * not run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "admission_stage.h"
#include "base/buf.h"
#include "cluster_fixture.h"

/* --- an API server with objects that the state lacks ---------------------- */

struct server {
	struct stage *stage;
	struct cluster_builder *state;
	const char *objects[4]; /* added to the state after a request */
	bool silent;		/* it does not answer */
	unsigned asked;		/* number of requests */
	struct cluster_absence last;
};

static void publish(struct server *server)
{
	admission_set_cluster(server->stage->admission,
			      cluster_builder_finish(server->state, 0));
}

static uint32_t ask(void *context, const struct cluster_absence *items,
		    size_t n, unsigned ms)
{
	struct server *server = context;

	assert_in_range(n, 1, CLUSTER_ABSENCES);
	assert_in_range(ms, 1, 50);
	server->asked++;
	server->last = items[0];
	if (server->silent)
		return 0;
	for (size_t i = 0; i < 4 && server->objects[i]; i++) {
		add_object(server->state, server->objects[i]);
		server->objects[i] = NULL;
	}
	publish(server);
	return (UINT32_C(1) << n) - 1;
}

static void use_policy(struct stage *s, const char *keys)
{
	struct policy_options options = {.admission = true};
	struct policy_problems problems = {0};
	struct policy *policy;
	struct buf text;

	buf_init(&text);
	buf_addf(&text, "apiVersion: gpugate.dev/v1\nkind: Policy\n%s", keys);
	policy = policy_parse(
		&s->rules,
		&(struct policy_text){"policy.yaml", text.data, text.len},
		&options, &problems);
	for (size_t i = 0; i < problems.n; i++)
		print_message("  %s\n", problems.items[i].text);
	assert_int_equal(problems.n, 0);
	admission_set_policy(s->admission, policy);
	policy_problems_release(&problems);
	buf_release(&text);
}

static void begin(struct server *server, struct stage *s, const char *keys)
{
	*server = (struct server){.stage = s, .state = cluster_builder_new()};
	use_policy(s, keys);
	add_object(server->state, "{apiVersion: v1, kind: Namespace, metadata: "
				  "{name: ml, labels: {tier: prod}}}");
	publish(server);
	admission_set_asker(s->admission,
			    &(struct admission_asker){ask, server});
}

static void end(struct server *server)
{
	cluster_builder_free(server->state);
}

/* --- reviews -------------------------------------------------------------- */

#define PODS(spec)                                                             \
	"{\"spec\":{\"restartPolicy\":\"Never\"," spec "\"containers\":"       \
	"[{\"name\":\"c\",\"image\":\"a:1\",\"resources\":{\"limits\":"        \
	"{\"nvidia.com/gpu\":\"1\"}}}]}}"
#define JOB(labels, spec)                                                      \
	"{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"metadata\":{"         \
	"\"name\":\"j\",\"namespace\":\"ml\",\"labels\":{" labels "}},"        \
	"\"spec\":{\"backoffLimit\":1,\"template\":" PODS(spec) "}}"
#define QUEUED	    JOB("\"kueue.x-k8s.io/queue-name\":\"q\"", "")
#define PRIORITIZED JOB("", "\"priorityClassName\":\"p\",")
#define PLAIN	    JOB("", "")

/* Returns the text of the denial; "" if the object is allowed. */
static const char *denial_in(struct stage *s, const char *namespace,
			     const char *object)
{
	struct buf body;
	const char *message;

	buf_init(&body);
	buf_addf(&body,
		 "{\"kind\":\"AdmissionReview\",\"apiVersion\":"
		 "\"admission.k8s.io/v1\",\"request\":{\"uid\":\"u\",\"kind\":"
		 "{\"group\":\"batch\",\"version\":\"v1\",\"kind\":\"Job\"},"
		 "\"namespace\":\"%s\",\"name\":\"j\",\"operation\":"
		 "\"CREATE\",\"userInfo\":{\"username\":\"alice\"},"
		 "\"object\":%s}}",
		 namespace, object);
	admission_review(s->worker, ADMISSION_VALIDATE, body.data, body.len,
			 &s->reply);
	buf_release(&body);
	assert_int_equal(s->reply.status, 200);
	if (strstr(s->reply.body, "\"allowed\":true"))
		return "";
	message = strstr(s->reply.body, "\"message\"");
	return message ? message : s->reply.body;
}

static const char *denial(struct stage *s, const char *object)
{
	return denial_in(s, "ml", object);
}

#define assert_denied(text, rule) assert_non_null(strstr(text, rule))
#define assert_allowed(text)	  assert_string_equal(text, "")

static void assert_not_run(struct stage *s, const char *rule, unsigned n)
{
	struct buf page, line;

	buf_init(&page);
	buf_init(&line);
	metrics_write(s->metrics, &page);
	buf_addf(&line, "gpugate_rules_not_run{rule=\"%s\"} ", rule);
	if (n)
		buf_addf(&line, "%u\n", n);
	assert_true(!n == !strstr(page.data, line.data));
	buf_release(&page);
	buf_release(&line);
}

/* --- tests ---------------------------------------------------------------- */

static void an_object_that_exists_is_not_missing(void **state)
{
	struct server server;

	begin(&server, *state, "mode: enforce\n");
	server.objects[0] = "{apiVersion: scheduling.k8s.io/v1, kind: "
			    "PriorityClass, metadata: {name: p}, value: 1}";
	assert_allowed(denial(*state, PRIORITIZED));
	assert_int_equal(server.asked, 1);
	assert_int_equal(server.last.kind, CLUSTER_PRIORITY_CLASS);
	assert_string_equal(server.last.name, "p");
	/* The answer of the API server was added to the state. */
	assert_allowed(denial(*state, PRIORITIZED));
	assert_int_equal(server.asked, 1);
	end(&server);
}

/* The LocalQueue that was found names a ClusterQueue, which is missing too. */
static void an_object_that_was_found_leads_to_another_request(void **state)
{
	struct server server;

	begin(&server, *state, "mode: enforce\n");
	server.objects[0] =
		"{apiVersion: kueue.x-k8s.io/v1beta1, kind: LocalQueue, "
		"metadata: {name: q, namespace: ml}, spec: {clusterQueue: c}}";
	assert_denied(denial(*state, QUEUED), "ClusterQueue `c`");
	assert_int_equal(server.asked, 2);
	assert_int_equal(server.last.kind, CLUSTER_QUEUE);
	end(&server);
}

static void a_missing_object_is_denied(void **state)
{
	struct server server;

	begin(&server, *state, "mode: enforce\n");
	assert_denied(denial(*state, QUEUED), "queue-unknown");
	assert_denied(denial(*state, QUEUED), "queue-unknown");
	/* The API server is asked each time, because the object may exist by
	 * now. */
	assert_int_equal(server.asked, 2);
	assert_not_run(*state, "queue-unknown", 0);
	end(&server);
}

static void without_an_answer_the_rule_is_not_run(void **state)
{
	struct server server;

	begin(&server, *state, "mode: enforce\n");
	server.silent = true;
	assert_allowed(denial(*state, QUEUED));
	assert_not_run(*state, "queue-unknown", 1);
	end(&server);
}

static void a_list_is_asked_for_as_a_whole(void **state)
{
	struct server server;

	begin(&server, *state,
	      "mode: enforce\n"
	      "rules: {namespace-without-gpu-quota: {action: deny}}\n");
	assert_denied(denial(*state, PLAIN), "namespace-without-gpu-quota");
	assert_null(server.last.name);
	assert_string_equal(server.last.namespace, "ml");
	server.objects[0] =
		"{apiVersion: v1, kind: ResourceQuota, metadata: {name: g, "
		"namespace: ml}, spec: {hard: {requests.nvidia.com/gpu: 8}}}";
	assert_allowed(denial(*state, PLAIN));
	end(&server);
}

/* Warnings, and findings about the object itself, cause no request. */
static void only_denials_cause_requests(void **state)
{
	struct server server;

	begin(&server, *state, "mode: warn\n");
	assert_allowed(denial(*state, QUEUED));
	use_policy(*state,
		   "mode: enforce\nrules: {queue-unknown: {action: warn}, "
		   "job-replacement-double-claim: {action: deny}}\n");
	assert_denied(denial(*state, QUEUED), "job-replacement-double-claim");
	assert_int_equal(server.asked, 0);
	end(&server);
}

#define LABELED                                                                \
	"mode: enforce\noverrides: [{namespaceLabels: {tier: dev}, "           \
	"mode: audit}]\nrules: {job-replacement-double-claim: {action: deny}}\n"
#define NEW_NAMESPACE                                                          \
	"{apiVersion: v1, kind: Namespace, metadata: {name: new, "             \
	"labels: {tier: dev}}}"

static void labels_of_a_new_namespace_give_its_mode(void **state)
{
	struct server server;

	begin(&server, *state, LABELED);
	server.objects[0] = NEW_NAMESPACE;
	assert_allowed(denial_in(*state, "new", PLAIN));
	assert_int_equal(server.asked, 1);
	/* The state has another label of this namespace; before the denial, the
	 * API server is asked for the current one. */
	assert_denied(denial(*state, PLAIN), "job-replacement-double-claim");
	server.objects[0] = "{apiVersion: v1, kind: Namespace, metadata: "
			    "{name: ml, labels: {tier: dev}}}";
	assert_allowed(denial(*state, PLAIN));
	end(&server);
}

static void labels_that_are_unknown_deny_nothing(void **state)
{
	struct server server;

	begin(&server, *state, LABELED);
	server.silent = true;
	assert_allowed(denial_in(*state, "new", PLAIN));
	assert_not_run(*state, "job-replacement-double-claim", 1);
	assert_non_null(strstr(((struct stage *)*state)->reply.body,
			       "job-replacement-double-claim"));
	/* The state's last version of a known namespace stays in use. */
	assert_denied(denial(*state, PLAIN), "job-replacement-double-claim");
	end(&server);
}

#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, stage_setup, stage_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_object_that_exists_is_not_missing),
		TEST(an_object_that_was_found_leads_to_another_request),
		TEST(a_missing_object_is_denied),
		TEST(without_an_answer_the_rule_is_not_run),
		TEST(a_list_is_asked_for_as_a_whole),
		TEST(only_denials_cause_requests),
		TEST(labels_of_a_new_namespace_give_its_mode),
		TEST(labels_that_are_unknown_deny_nothing),
	};

	return cmocka_run_group_tests_name("absences at admission", tests, NULL,
					   NULL);
}
