/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends reviews as the API server does, which tests TLS, HTTP, the reader, the
 * rules and the response. The reviews are dry runs, so that they do not count
 * as workloads. A server that the self-test starts must have the certificate
 * that the self-test issued, and must give the expected verdicts. A server that
 * already runs may have any certificate and any policy: only a response with
 * the same uid is required.
 */
#include "commands.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <curl/curl.h>
#include <jansson.h>

#include "base/array.h"
#include "base/text.h"
#include "certs/issue.h"
#include "engine/registry.h"
#include "webhook/server/server.h"

#define NAME "gpugate-selftest"

enum { SECONDS = 5, HOUR = 3600, REPLY_MAX = 1 << 20 };

struct trial {
	const char *what, *path, *uid;
	/* GPUs that the pod requests; the limit is 1 */
	const char *gpus_requested;
	bool allowed;
};

static const struct trial trials[] = {
	{"a good Pod is allowed", "/validate",
	 "5e1f7e57-0000-4000-8000-000000000001", "1", true},
	{"a bad Pod is denied", "/validate",
	 "5e1f7e57-0000-4000-8000-000000000002", "2", false},
	{"a Pod may be patched", "/mutate",
	 "5e1f7e57-0000-4000-8000-000000000003", "1", true},
};

static json_t *make_pod(const char *gpus_requested)
{
	return json_pack("{s:s, s:s, s:{s:s, s:s}, s:{s:[{s:s, s:s,"
			 " s:{s:{s:s}, s:{s:s}}}]}}",
			 "apiVersion", "v1", "kind", "Pod", "metadata", "name",
			 NAME, "namespace", NAME, "spec", "containers", "name",
			 "main", "image", "registry.example.com/a:1",
			 "resources", "limits", "nvidia.com/gpu", "1",
			 "requests", "nvidia.com/gpu", gpus_requested);
}

static json_t *make_review(const struct trial *trial)
{
	return json_pack(
		"{s:s, s:s, s:{s:s, s:{s:s, s:s, s:s}, s:{s:s, s:s, s:s},"
		" s:s, s:s, s:s, s:{s:s}, s:b, s:o}}",
		"apiVersion", "admission.k8s.io/v1", "kind", "AdmissionReview",
		"request", "uid", trial->uid, "kind", "group", "", "version",
		"v1", "kind", "Pod", "resource", "group", "", "version", "v1",
		"resource", "pods", "name", NAME, "namespace", NAME,
		"operation", "CREATE", "userInfo", "username", NAME, "dryRun",
		1, "object", make_pod(trial->gpus_requested));
}

static void write_review(const struct trial *trial, struct buf *out)
{
	json_t *review = make_review(trial);
	char *text = json_dumps(review, JSON_COMPACT);

	if (!text)
		OUT_OF_MEMORY();
	buf_adds(out, text);
	free(text);
	json_decref(review);
}

/* Checks the response. Every verdict is accepted if any is set. */
static int check_answer(const struct trial *trial, bool any,
			const struct buf *reply, struct err *err)
{
	json_t *root = json_loadb(reply->data, reply->len, 0, NULL);
	const json_t *response = json_object_get(root, "response");
	const json_t *allowed = json_object_get(response, "allowed");
	const char *uid = json_string_value(json_object_get(response, "uid"));
	int rc = 0;

	if (!json_is_boolean(allowed))
		rc = err_set(err, 0, "the response is not an AdmissionReview");
	else if (!text_eq(uid, trial->uid))
		rc = err_set(err, 0, "the response has another uid");
	else if (!any && json_is_true(allowed) != trial->allowed)
		rc = err_set(err, 0, "it was %s",
			     json_is_true(allowed) ? "allowed" : "denied");
	json_decref(root);
	return rc;
}

/* A server to send reviews to. */
struct target {
	const char *address; /* HOST:PORT */
	/* PEM (NULL: every certificate is accepted) */
	const struct buf *ca;
};

static size_t on_reply(char *data, size_t one, size_t len, void *context)
{
	struct buf *reply = context;

	if (reply->len + len > REPLY_MAX)
		return 0;
	buf_add(reply, data, len);
	return len;
}

static void set_call(CURL *easy, const struct target *target,
		     const struct buf *review)
{
	curl_easy_setopt(easy, CURLOPT_POSTFIELDS, review->data);
	curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, (long)review->len);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_reply);
	curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT, (long)SECONDS);
	curl_easy_setopt(easy, CURLOPT_TIMEOUT, 2L * SECONDS);
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(easy, CURLOPT_PROXY, "");
	if (target->ca) {
		struct curl_blob pem = {target->ca->data, target->ca->len,
					CURL_BLOB_COPY};

		curl_easy_setopt(easy, CURLOPT_CAINFO_BLOB, &pem);
	} else {
		curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
		curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
	}
}

/* Sends a review and appends the response's body. Returns the HTTP status, or
 * -1. */
static long post(const struct target *target, const char *path,
		 const struct buf *review, struct buf *reply, struct err *err)
{
	struct curl_slist *type =
		curl_slist_append(NULL, "Content-Type: application/json");
	char why[CURL_ERROR_SIZE] = "", url[512];
	CURL *easy = curl_easy_init();
	CURLcode code;
	long status = -1;

	if (!easy || !type)
		OUT_OF_MEMORY();
	snprintf(url, sizeof(url), "https://%s%s%s",
		 *target->address == ':' ? "localhost" : "", target->address,
		 path);
	set_call(easy, target, review);
	curl_easy_setopt(easy, CURLOPT_URL, url);
	curl_easy_setopt(easy, CURLOPT_HTTPHEADER, type);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, reply);
	curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, why);
	code = curl_easy_perform(easy);
	if (code == CURLE_OK)
		curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
	else
		err_set(err, 0, "%s%s",
			code == CURLE_COULDNT_CONNECT	  ? "cannot connect: "
			: code == CURLE_SSL_CONNECT_ERROR ? "TLS handshake: "
							  : "",
			*why ? why : curl_easy_strerror(code));
	curl_easy_cleanup(easy);
	curl_slist_free_all(type);
	return status;
}

static int ask(const struct target *target, const struct trial *trial)
{
	struct buf review, reply;
	struct err err = {0};
	long status;
	int rc = -1;

	buf_init(&review);
	buf_init(&reply);
	write_review(trial, &review);
	status = post(target, trial->path, &review, &reply, &err);
	if (status == 200)
		rc = check_answer(trial, !target->ca, &reply, &err);
	else if (status > 0)
		err_set(&err, 0, "HTTP status %ld: %.*s", status,
			(int)strcspn(reply.data, "\r\n"), reply.data);
	buf_release(&review);
	buf_release(&reply);
	if (target->ca || rc)
		fprintf(rc ? stderr : stdout, "%s %s: %s%s%s\n",
			rc ? "failed:" : "ok:", trial->path, trial->what,
			rc ? ": " : "", rc ? err.text : "");
	return rc;
}

/* --- a running server ----------------------------------------------------- */

/* Sends one review to the running server at HOST:PORT, [HOST]:PORT or :PORT. */
static int ask_running(const char *address)
{
	const struct target target = {.address = address};
	const char *colon = strrchr(address, ':');
	int rc = 1;

	if (!colon || !colon[1])
		fprintf(stderr, "gpugated: `%s` is not HOST:PORT\n", address);
	else
		rc = ask(&target, &trials[0]) ? 1 : 0;
	if (!rc)
		printf("ok: %s answers\n", address);
	return rc;
}

/* --- a separate server ---------------------------------------------------- */

struct own {
	/* policies point to the set, so it must not move */
	struct rule_set rules;
	struct log *log;
	struct metrics *metrics;
	struct admission *admission;
	struct key_store *keys;
	struct server *server;
	struct issued ca, leaf;
};

static int issue(struct own *own, struct err *err)
{
	static const char *const names[] = {"127.0.0.1", NULL};
	struct issue_ask ask = {
		.common_name = "gpugated selftest",
		.now = time(NULL),
		.seconds = HOUR,
	};

	if (issue_ca(&ask, &own->ca, err))
		return -1;
	ask.common_name = NULL;
	ask.names = names;
	if (issue_leaf(&ask, &own->ca, &own->leaf, err))
		return -1;
	return key_store_load_pem(own->keys, &own->leaf.cert, &own->leaf.key,
				  err);
}

static int start(struct own *own, const struct serve_options *options,
		 struct err *err)
{
	struct server_options server = {
		.listen = "127.0.0.1:0",
		.threads = serve_threads(options),
		.max_body = 1 << 20,
		.max_in_flight = 16,
		.max_connections = 16,
		.handshake_seconds = SECONDS,
		.header_seconds = SECONDS,
		.body_seconds = SECONDS,
		.idle_seconds = 300,
		.keys = own->keys,
		.admission = own->admission,
		.metrics = own->metrics,
		.log = own->log,
	};

	if (issue(own, err))
		return -1;
	admission_set_policy(own->admission, policy_default(&own->rules, NULL));
	own->server = server_start(&server, err);
	return own->server ? 0 : -1;
}

/* Reads the policy. Fails for warnings too, because a server would only log a
 * misspelled rule. */
static int check_policy(const struct own *own, const char *path)
{
	struct policy_options options = {.admission = true};
	struct policy_problems problems = {0};
	struct policy *policy =
		policy_load(&own->rules, path, &options, &problems);
	int rc = problems.n || !policy;

	for (size_t i = 0; i < problems.n; i++) {
		const struct policy_problem *p = &problems.items[i];

		fprintf(stderr, "failed: policy: %s:%u:%u: %s\n", p->file,
			p->line, p->column, p->text);
	}
	if (!rc)
		printf("ok: policy: %s\n", path);
	policy_problems_release(&problems);
	policy_free(policy);
	return rc;
}

static int ask_own(struct own *own)
{
	char address[32];
	const struct target target = {address, &own->ca.cert};
	int rc = 0;

	snprintf(address, sizeof(address), "127.0.0.1:%u",
		 server_port(own->server));
	for (size_t i = 0; i < ARRAY_SIZE(trials); i++)
		if (ask(&target, &trials[i]))
			rc = 1;
	return rc;
}

static int run_own(const struct serve_options *options)
{
	struct own own = {.rules = {.items = all_rules, .n = all_rules_count}};
	struct admission_options admission = {.rules = &own.rules};
	struct err err = {0};
	int rc = 1;

	issued_init(&own.ca);
	issued_init(&own.leaf);
	own.log = log_new(STDERR_FILENO, LOG_WARN, false);
	own.metrics = metrics_new();
	admission.log = own.log;
	admission.metrics = own.metrics;
	own.admission = admission_new(&admission);
	own.keys = key_store_new();
	if (start(&own, options, &err))
		fprintf(stderr, "gpugated: selftest: %s\n", err.text);
	else
		rc = ask_own(&own);
	if (options->policy && check_policy(&own, options->policy))
		rc = 1;
	server_stop(own.server);
	admission_free(own.admission);
	key_store_free(own.keys);
	metrics_free(own.metrics);
	log_free(own.log);
	issued_release(&own.ca);
	issued_release(&own.leaf);
	return rc;
}

int selftest(const struct serve_options *options)
{
	signal(SIGPIPE, SIG_IGN);
	return options->address ? ask_running(options->address)
				: run_own(options);
}
