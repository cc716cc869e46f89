/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rejections at admission depend on the version of the operator: a version
 * whose code was read denies, and another one only warns, as lint does.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ask_fixture.h"

/* The key and the version in `operators`, or NULL: the version is unknown. */
struct version_case {
	const char *operators;
	const char *group, *kind, *object;
	const char *verdict, *says;
};

#define TEMPLATE                                                                \
	"{spec: {restartPolicy: Never, containers: [{name: a, image: 'r/a:1', " \
	"resources: {limits: {nvidia.com/gpu: 1}}}]}}"
#define JOBSET                                                                 \
	"jobset.x-k8s.io", "JobSet",                                           \
		"{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, "        \
		"metadata: {name: a}, spec: {replicatedJobs: ["                \
		"{name: a, dependsOn: [{name: b, status: Ready}], "            \
		"template: {spec: {template: " TEMPLATE "}}}, "                \
		"{name: b, template: {spec: {template: " TEMPLATE "}}}]}}"
#define LWS                                                                    \
	"leaderworkerset.x-k8s.io", "LeaderWorkerSet",                         \
		"{apiVersion: leaderworkerset.x-k8s.io/v1, kind: "             \
		"LeaderWorkerSet, metadata: {name: a}, spec: {replicas: 1, "   \
		"rolloutStrategy: {rollingUpdateConfiguration: "               \
		"{partition: -1}}, leaderWorkerTemplate: {size: 2, "           \
		"workerTemplate: {spec: {containers: [{name: a, image: "       \
		"'r/a:1', resources: {limits: {nvidia.com/gpu: 1}}}]}}}}}"
#define FIRST "jobset-rejects: `dependsOn` is set in the first replicatedJob"
#define RANGE FIRST ": JobSet rejects the object in the versions 0.6 to 0.12"
#define SINCE                                                                  \
	"lws-rejects: `partition` is negative: the LeaderWorkerSet webhook"

static const struct version_case cases[] = {
	{NULL, JOBSET, DENIED, FIRST},
	{"jobset: \"0.6\"", JOBSET, DENIED, FIRST},
	{"jobset: v0.12.0", JOBSET, DENIED, FIRST},
	{"jobset: \"0.13\"", JOBSET, LET_IN, RANGE},
	{"jobset: v1.0.0", JOBSET, LET_IN, RANGE},
	{NULL, LWS, LET_IN, SINCE " 0.8 and later reject"},
	{"lws: \"0.7\"", LWS, LET_IN, NULL},
	{"lws: \"0.8\"", LWS, DENIED, SINCE},
	{"lws: \"0.9\"", LWS, DENIED, SINCE},
	{"lws: \"0.11\"", LWS, LET_IN, SINCE},
};

static void only_a_version_that_was_read_denies(void **state)
{
	struct stage *s = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct version_case *c = &cases[i];
		struct ask ask = {
			ADMISSION_VALIDATE, "CREATE", c->group, c->kind, "",
			c->object};
		char policy[200];

		snprintf(policy, sizeof(policy),
			 "apiVersion: gpugate.dev/v1\nkind: Policy\n"
			 "operators: {%s}\n",
			 c->operators ? c->operators : "");
		use_policy(s, policy);
		post(s, &ask);
		if (!says(s, c->verdict) || (c->says && !says(s, c->says)) ||
		    (!c->says && says(s, "-rejects: ")))
			fail_msg("%s, %s: %.*s", c->kind,
				 c->operators ? c->operators : "no version",
				 (int)s->reply.len, s->reply.body);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			only_a_version_that_was_read_denies, stage_setup,
			stage_teardown),
	};

	return cmocka_run_group_tests_name("admission_versions", tests, NULL,
					   NULL);
}
