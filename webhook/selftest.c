/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The same path as a real review: TLS, HTTP, the reader, all rules, the
 * answer. Reviews are dry runs, so that nobody counts them as workloads.
 *
 * A server of our own is trusted by its CA and its verdicts are known. One
 * that runs has a certificate that is not ours to judge and a policy that
 * may allow anything: there an answer with our uid is all that is right.
 */
#include "selftest.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>

#include "base/text.h"
#include "certs/issue.h"
#include "engine/registry.h"
#include "serve.h"
#include "tls_call.h"
#include "webhook/server.h"

enum { SECONDS = 5, HOUR = 3600 };

static const char name[] = "localhost";

struct trial {
	const char *what, *path, *uid;
	const char *gpus_requested; /* of 1 that is the limit */
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

static void write_review(const struct trial *trial, struct buf *out)
{
	buf_addf(
		out,
		"{\"apiVersion\":\"admission.k8s.io/v1\","
		"\"kind\":\"AdmissionReview\",\"request\":{\"uid\":\"%s\","
		"\"kind\":{\"group\":\"\",\"version\":\"v1\",\"kind\":\"Pod\"},"
		"\"resource\":{\"group\":\"\",\"version\":\"v1\","
		"\"resource\":\"pods\"},\"name\":\"gpugate-selftest\","
		"\"namespace\":\"gpugate-selftest\",\"operation\":\"CREATE\","
		"\"userInfo\":{\"username\":\"gpugate-selftest\"},"
		"\"dryRun\":true,\"object\":{\"apiVersion\":\"v1\","
		"\"kind\":\"Pod\",\"metadata\":{\"name\":\"gpugate-selftest\","
		"\"namespace\":\"gpugate-selftest\"},\"spec\":{\"containers\":"
		"[{\"name\":\"main\",\"image\":\"registry.example.com/a:1\","
		"\"resources\":{\"limits\":{\"nvidia.com/gpu\":\"1\"},"
		"\"requests\":{\"nvidia.com/gpu\":\"%s\"}}}]}}}}",
		trial->uid, trial->gpus_requested);
}

/* any: every verdict is right. */
static int check_answer(const struct trial *trial, bool any,
			const struct buf *reply, struct err *err)
{
	json_t *root = json_loadb(reply->data, reply->len, 0, NULL);
	const json_t *response = json_object_get(root, "response");
	const json_t *allowed = json_object_get(response, "allowed");
	const char *uid = json_string_value(json_object_get(response, "uid"));
	int rc = 0;

	if (!json_is_boolean(allowed))
		rc = err_set(err, 0, "the answer is no AdmissionReview");
	else if (!text_eq(uid, trial->uid))
		rc = err_set(err, 0, "the answer is to another uid");
	else if (!any && json_is_true(allowed) != trial->allowed)
		rc = err_set(err, 0, "it was %s",
			     json_is_true(allowed) ? "allowed" : "denied");
	json_decref(root);
	return rc;
}

static int ask(struct tls_call *call, const struct trial *trial)
{
	struct buf review, reply;
	struct err err = {0};
	int status, rc = -1;

	buf_init(&review);
	buf_init(&reply);
	write_review(trial, &review);
	call->path = trial->path;
	call->body = review.data;
	call->len = review.len;
	status = tls_call(call, &reply, &err);
	if (status == 200)
		rc = check_answer(trial, !call->ca, &reply, &err);
	else if (status > 0)
		err_set(&err, 0, "HTTP status %d: %.*s", status,
			(int)strcspn(reply.data, "\r\n"), reply.data);
	buf_release(&review);
	buf_release(&reply);
	if (call->ca || rc)
		fprintf(rc ? stderr : stdout, "%s %s: %s%s%s\n",
			rc ? "failed:" : "ok:", trial->path, trial->what,
			rc ? ": " : "", rc ? err.text : "");
	return rc;
}

/* --- a server that runs --------------------------------------------------- */

/* HOST:PORT, [HOST]:PORT or :PORT in place. */
static int split_address(char *text, struct tls_call *call)
{
	char *colon = strrchr(text, ':');

	if (!colon || !colon[1])
		return -1;
	*colon = '\0';
	if (*text == '[' && colon[-1] == ']') {
		colon[-1] = '\0';
		text++;
	}
	call->host = *text ? text : "localhost";
	call->port = colon + 1;
	return 0;
}

static int ask_running(const char *address)
{
	struct tls_call call = {.seconds = SECONDS};
	char *copy = strdup(address);
	int rc = 1;

	if (!copy || split_address(copy, &call))
		fprintf(stderr, "gpugated: `%s` is not HOST:PORT\n", address);
	else
		rc = ask(&call, &trials[0]) ? 1 : 0;
	if (!rc)
		printf("ok: %s answers\n", address);
	free(copy);
	return rc;
}

/* --- one of our own ------------------------------------------------------- */

struct own {
	struct rule_set rules; /* policies keep its address */
	struct log *log;
	struct metrics *metrics;
	struct door *door;
	struct key_store *keys;
	struct server *server;
	struct issued ca, leaf;
};

static int issue(struct own *own, struct err *err)
{
	const char *names[] = {name, NULL}, *addresses[] = {"127.0.0.1", NULL};
	struct issue_ask ask = {
		.common_name = "gpugated selftest",
		.now = time(NULL),
		.seconds = HOUR,
	};

	if (issue_ca(&ask, &own->ca, err))
		return -1;
	ask.common_name = NULL;
	ask.dns = names;
	ask.addresses = addresses;
	if (issue_leaf(&ask, &own->ca, &own->leaf, err))
		return -1;
	return key_store_load_pem(own->keys, &own->leaf.cert, &own->leaf.key,
				  err);
}

static int start(struct own *own, const struct options *options,
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
		.door = own->door,
		.metrics = own->metrics,
		.log = own->log,
	};

	if (issue(own, err))
		return -1;
	door_set_policy(own->door, policy_default(&own->rules, NULL));
	own->server = server_start(&server, err);
	return own->server ? 0 : -1;
}

static int ask_own(struct own *own)
{
	struct tls_call call = {
		.host = "127.0.0.1",
		.ca = &own->ca.cert,
		.name = name,
		.seconds = SECONDS,
	};
	char port[16];
	int rc = 0;

	snprintf(port, sizeof(port), "%u", server_port(own->server));
	call.port = port;
	for (size_t i = 0; i < sizeof(trials) / sizeof(*trials); i++)
		if (ask(&call, &trials[i]))
			rc = 1;
	return rc;
}

static int run_own(const struct options *options)
{
	struct own own = {.rules = {all_rules, all_rules_count}};
	struct door_options door = {.rules = &own.rules};
	struct err err = {0};
	int rc = 1;

	issued_init(&own.ca);
	issued_init(&own.leaf);
	own.log = log_new(STDERR_FILENO, LOG_WARN, false);
	own.metrics = metrics_new();
	door.log = own.log;
	door.metrics = own.metrics;
	own.door = door_new(&door);
	own.keys = key_store_new();
	if (start(&own, options, &err))
		fprintf(stderr, "gpugated: selftest: %s\n", err.text);
	else
		rc = ask_own(&own);
	if (own.server)
		server_stop(own.server);
	door_free(own.door);
	key_store_free(own.keys);
	metrics_free(own.metrics);
	log_free(own.log);
	issued_release(&own.ca);
	issued_release(&own.leaf);
	return rc;
}

int selftest(const struct options *options)
{
	signal(SIGPIPE, SIG_IGN);
	return options->address ? ask_running(options->address)
				: run_own(options);
}
