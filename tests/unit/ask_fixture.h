/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Short helpers that post reviews, and set policies given as texts.
 */
#ifndef TESTS_ASK_FIXTURE_H
#define TESTS_ASK_FIXTURE_H

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "review_fixture.h"

struct ask {
	enum admission_path path;
	const char *operation, *group, *kind, *subresource, *object;
};

/* A value in a test's object that post() sends without its quotes: 01 is not a
 * JSON number, so the object cannot be read. */
#define NO_NUMBER "'01'"

/* Sets up a stage with the preset recommended; the user of its requests is
 * alice. */
static inline int setup_recommended(void **state)
{
	struct stage *s;

	stage_setup(state);
	s = *state;
	admission_set_policy(s->admission,
			     policy_default(&s->rules, "recommended"));
	s->user = "alice";
	return 0;
}

static inline void post(struct stage *s, const struct ask *ask)
{
	struct buf request, body;
	char *quoted;

	buf_init(&request);
	buf_init(&body);
	buf_addf(&request,
		 "operation: '%s', kind: {group: '%s', version: v1, kind: %s}, "
		 "subResource: '%s', namespace: ml, name: a, "
		 "userInfo: {username: '%s'}, object: %s, oldObject: null",
		 ask->operation, ask->group, ask->kind, ask->subresource,
		 s->user, ask->object);
	review_json(&body, request.data);
	quoted = strstr(body.data, "\"01\"");
	if (quoted)
		memcpy(quoted, "  01", 4);
	admission_review(s->worker, ask->path, body.data, body.len, &s->reply);
	buf_release(&body);
	buf_release(&request);
	assert_int_equal(s->reply.status, 200);
}

static inline void use_policy(struct stage *s, const char *text)
{
	struct policy_options options = {.admission = true};
	struct policy_problems problems = {0};
	char path[] = "/tmp/gpugate-webhook-XXXXXX";
	int fd = mkstemp(path);
	struct policy *policy;

	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	policy = policy_load(&s->rules, path, &options, &problems);
	for (size_t i = 0; i < problems.n; i++)
		print_message("  %s\n", problems.items[i].text);
	policy_problems_release(&problems);
	unlink(path);
	assert_non_null(policy);
	admission_set_policy(s->admission, policy);
}

#define SUPPRESSED "\"suppressed\":\""
#define IGNORE(rule)                                                           \
	", annotations: {gpugate.dev/ignore: " rule                            \
	", gpugate.dev/ignore-reason: own shm}"
#define POD_SPEC                                                               \
	"{restartPolicy: Never, containers: [{name: m, image: r/a:1, "         \
	"resources: {limits: {cpu: '8', memory: 64Gi, nvidia.com/gpu: 2}}}]}"
#define JOB(own, of_template)                                                  \
	"{apiVersion: batch/v1, kind: Job, metadata: {name: a" own             \
	"}, spec: {backoffLimit: 2, template: {metadata: {name: x" of_template \
	"}, spec: " POD_SPEC "}}}"

#endif
