/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends any bytes to admission, as a whole body or as the object of a review
 * that is otherwise valid. The first byte chooses the form, the path and the
 * operation. Checks that
 *	- every body gets an answer: 200 with a review, or 400 with a reason
 *	- an answer is JSON, has the request's uid, and has patch and
 *	  patchType together or not at all
 *	- a review that is valid except for its object gets 200
 *	- the start of a review that is too long gets 200, if it has a uid
 * Inputs: 40000
 */
#include <fcntl.h>
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "webhook/admission/admission.h"

static const char policy_text[] =
	"apiVersion: gpugate.dev/v1\nkind: Policy\nmode: enforce\n"
	"extends: [strict]\nrules:\n"
	"  shm-missing: {action: patch, params: {size: 8Gi}}\n"
	"  priority-class-missing: {action: patch, params: {class: batch}}\n"
	"breakGlass: {groups: [oncall], annotation: gpugate.dev/glass}\n"
	"suppressions: {annotations: {rules: [shm-missing]}}\n";

static const struct rule_set *rules(void)
{
	static struct rule_set set;

	set.items = all_rules;
	set.n = all_rules_count;
	return &set;
}

static struct admission_worker *worker_for_all(void)
{
	static struct admission_worker *worker;
	struct policy_text text = {"policy", policy_text,
				   sizeof(policy_text) - 1};
	struct policy_options admission_options = {.admission = true,
						   .today = 20000};
	struct policy_problems problems = {0};
	struct admission_options options = {
		.rules = rules(),
		.now = INT64_C(1790000000),
	};
	struct policy *policy;
	struct admission *admission;

	if (worker)
		return worker;
	options.metrics = metrics_new();
	options.log = log_new(open("/dev/null", O_WRONLY), LOG_ERROR, true);
	policy = policy_parse(rules(), &text, &admission_options, &problems);
	if (!policy)
		BUG("the policy is wrong: %s", problems.items[0].text);
	policy_problems_release(&problems);
	admission = admission_new(&options);
	admission_set_policy(admission, policy);
	worker = admission_worker_new(admission);
	return worker;
}

static void wrap(struct buf *out, uint8_t how, const char *data, size_t size)
{
	static const char *const operations[] = {"CREATE", "UPDATE", "DELETE",
						 "CONNECT"};
	const char *operation = operations[how >> 2 & 3];

	buf_addf(out,
		 "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":"
		 "\"AdmissionReview\",\"request\":{\"uid\":\"u1\",\"kind\":{"
		 "\"group\":\"\",\"version\":\"v1\",\"kind\":\"Pod\"},"
		 "\"namespace\":\"ml\",\"operation\":\"%s\",\"userInfo\":{"
		 "\"username\":\"a\",\"groups\":[\"oncall\"]},\"oldObject\":{"
		 "\"kind\":\"Pod\",\"apiVersion\":\"v1\"},\"object\":",
		 operation);
	buf_add(out, data, size);
	buf_adds(out, "}}");
}

static json_t *ask(enum admission_path path, const struct buf *body,
		   bool enveloped)
{
	struct admission_reply reply;
	json_t *answer;

	admission_review(worker_for_all(), path, body->data, body->len, &reply);
	if (reply.status == 400 && !enveloped && reply.len)
		return NULL;
	if (reply.status != 200)
		BUG("status %u: %.*s", reply.status, (int)reply.len,
		    reply.body);
	answer = json_loadb(reply.body, reply.len, JSON_ALLOW_NUL, NULL);
	if (!answer)
		BUG("the answer is no JSON: %.*s", (int)reply.len, reply.body);
	return answer;
}

/* Passes the first half of the body as the start of a review that is too
 * long. */
static void ask_long(enum admission_path path, const struct buf *body)
{
	struct admission_reply reply;
	json_t *answer;

	if (!admission_review_start(worker_for_all(), path,
				    &(struct review_start){body->data,
							   body->len / 2,
							   "too long"},
				    &reply))
		return;
	answer = json_loadb(reply.body, reply.len, JSON_ALLOW_NUL, NULL);
	if (!answer || reply.status != 200)
		BUG("the answer is no JSON: %.*s", (int)reply.len, reply.body);
	json_decref(answer);
}

static void check(const json_t *answer, enum admission_path path,
		  bool enveloped)
{
	const json_t *r = json_object_get(answer, "response");
	bool allowed = json_is_true(json_object_get(r, "allowed"));
	const char *uid = json_string_value(json_object_get(r, "uid"));

	if (!uid || (enveloped && strcmp(uid, "u1")))
		BUG("uid is %s", uid ? uid : "missing");
	if (!json_object_get(r, "patch") != !json_object_get(r, "patchType"))
		BUG("patch and patchType do not come together");
	if (json_object_get(r, "patch") &&
	    (path != ADMISSION_MUTATE || !allowed))
		BUG("a patch that the API server refuses");
	if (!allowed && !json_object_get(r, "status"))
		BUG("a denial without words");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum admission_path path;
	struct buf body;
	bool enveloped;
	json_t *answer;

	if (!size)
		return 0;
	path = *data & 1 ? ADMISSION_MUTATE : ADMISSION_VALIDATE;
	enveloped = *data & 2;
	buf_init(&body);
	if (enveloped) {
		/* Only a whole value may replace the object. */
		json_t *object =
			json_loadb((const char *)data + 1, size - 1,
				   JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);

		enveloped = object != NULL;
		json_decref(object);
		wrap(&body, *data, (const char *)data + 1, size - 1);
	} else {
		buf_add(&body, data + 1, size - 1);
	}
	answer = ask(path, &body, enveloped);
	if (answer)
		check(answer, path, enveloped);
	json_decref(answer);
	ask_long(path, &body);
	buf_release(&body);
	return 0;
}
