/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handles requests, from their headers to the reply. libmicrohttpd calls
 * server_request() once when it has the headers, once for each piece of the
 * body, and again when the body is complete. Only the first and the last call
 * may reply or suspend the connection; after a suspension the last call is
 * repeated.
 *
 * A reply in the first call closes the connection, and if the client sends more
 * bytes, the kernel resets the connection: of Go clients with 8 MB to send, two
 * in five never read the reply. So a rejection is sent after the body has been
 * read and dropped, unless the body is very long. A body that arrives in one
 * piece is checked in place; the reply is kept for the last call.
 */
#include "server_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/escape.h"

enum {
	/* Bytes of a body that are read and dropped before a rejection. An API
	 * server accepts 3 MiB from a user, may write six bytes for one, and
	 * adds stored data, so a rejection of its reviews is never cut off by a
	 * reset. */
	DROP_MAX = 64 << 20,
	/* Bytes that are kept of a body that is too long; they contain all
	 * fields before the objects. */
	LONG_START = 64 << 10,
	/* minimum time in ms to answer from this start, if most of the time has
	 * been used */
	START_MS = 200,
};

/*
 * When `elapsed` (ms) has passed, the API server has given up or soon will, and
 * the object may be admitted without a review. No known review takes a fifth of
 * `processor` (ms of CPU time on a machine of 2023), or three quarters of
 * `memory`; one that does more is denied, whatever the load of the machine.
 */
static const struct escape_limits review_limits = {
	.elapsed = 2000,
	.processor = 500,
	.memory = 64 << 20,
};

static const struct refusal ambiguous = {
	400,
	"expected exactly one Host, one Content-Length and no Transfer-Encoding\n",
	true};
static const struct refusal malformed = {
	400,
	"a header name is not a token, or a header value or the path has a control character\n",
	true};
static const struct refusal not_found = {
	404, "not found: reviews go to /mutate and /validate\n", false};
static const struct refusal wrong_method = {
	405, "a review must be sent with POST\n", false};
static const struct refusal no_length = {
	411, "a review needs a Content-Length\n", false};
static const struct refusal too_large = {
	413, "the review is larger than --max-body\n", false};
static const struct refusal wrong_type = {
	415, "a review must be application/json, not compressed\n", false};
static const struct refusal overload = {429, "too many reviews in flight\n",
					false};
static const struct refusal memory_used = {
	429, "the memory for reviews is in use\n", false};
static const struct refusal out_of_time = {429, "the review took too long\n",
					   false};

/* --- headers -------------------------------------------------------------- */

struct headers {
	unsigned hosts, lengths, codings, types;
	const char *length, *type;
	bool encoded, expects, malformed;
};

/* Returns true for a header name (RFC 9110 5.6.2); a blank before the colon
 * would be part of it. */
static bool is_token(const char *text, size_t len)
{
	static const char marks[] = "!#$%&'*+-.^_`|~";

	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)text[i]) &&
		    !memchr(marks, text[i], sizeof(marks) - 1))
			return false;
	return len > 0;
}

/* Returns true if the text has a control character other than a tab. At a CR or
 * a NUL, other programs may read two headers. */
static bool has_control(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (((unsigned char)text[i] < ' ' && text[i] != '\t') ||
		    text[i] == 0x7f)
			return true;
	return false;
}

/* NOLINTNEXTLINE(readability-function-size): signature of the library. */
static enum MHD_Result see_header(void *cls, enum MHD_ValueKind kind,
				  const char *key, size_t key_len,
				  const char *value, size_t value_len)
{
	struct headers *h = cls;

	h->malformed |=
		!is_token(key, key_len) || has_control(value, value_len);
	if (!strcasecmp(key, MHD_HTTP_HEADER_HOST)) {
		h->hosts++;
	} else if (!strcasecmp(key, MHD_HTTP_HEADER_CONTENT_LENGTH)) {
		h->lengths++;
		h->length = value;
	} else if (!strcasecmp(key, MHD_HTTP_HEADER_TRANSFER_ENCODING)) {
		h->codings++;
	} else if (!strcasecmp(key, MHD_HTTP_HEADER_CONTENT_TYPE)) {
		h->types++;
		h->type = value;
	} else if (!strcasecmp(key, MHD_HTTP_HEADER_CONTENT_ENCODING)) {
		h->encoded |= value && strcasecmp(value, "identity");
	} else if (!strcasecmp(key, MHD_HTTP_HEADER_EXPECT)) {
		h->expects = true;
	}
	return MHD_YES;
}

static bool is_json(const struct headers *h)
{
	static const char json[] = "application/json";
	size_t n = sizeof(json) - 1;

	return h->types == 1 && h->type && !strncasecmp(h->type, json, n) &&
	       (!h->type[n] || strchr("; \t", h->type[n]));
}

/* Reads a number of only digits. libmicrohttpd checks this too; here it
 * protects against errors of the library. */
static bool read_length(const char *text, size_t *out)
{
	size_t n = 0;

	if (!text || !*text)
		return false;
	for (; *text; text++) {
		if (*text < '0' || *text > '9' || n > SIZE_MAX / 16)
			return false;
		n = n * 10 + (size_t)(*text - '0');
	}
	*out = n;
	return true;
}

static bool find_path(const char *url, enum admission_path *out)
{
	if (!strcmp(url, "/mutate"))
		*out = ADMISSION_MUTATE;
	else if (!strcmp(url, "/validate"))
		*out = ADMISSION_VALIDATE;
	else
		return false;
	return true;
}

static const struct refusal *check_headers(struct peer *peer,
					   struct MHD_Connection *connection,
					   const struct headers *h)
{
	const struct refusal *client;

	peer->expected = 0;
	if (h->malformed)
		return &malformed;
	if (h->hosts > 1 || h->lengths > 1 || h->codings ||
	    (h->length && !read_length(h->length, &peer->expected)))
		return &ambiguous;
	client = server_check_client(peer, connection);
	if (client)
		return client;
	if (peer->expected > peer->server->options.max_body)
		return &too_large;
	return NULL;
}

static void check_request(struct peer *peer, const char *url,
			  const char *method, const struct headers *h)
{
	if (!find_path(url, &peer->path))
		peer->refusal = &not_found;
	else if (strcmp(method, MHD_HTTP_METHOD_POST))
		peer->refusal = &wrong_method;
	else if (!h->length)
		peer->refusal = &no_length;
	else if (h->encoded || !is_json(h))
		peer->refusal = &wrong_type;
}

/* --- replies -------------------------------------------------------------- */

/* Makes a response to the current request. Returns NULL if memory runs out. */
static struct MHD_Response *make_response(struct peer *peer,
					  const struct admission_reply *reply)
{
	struct MHD_Response *response = MHD_create_response_from_buffer(
		reply->len, (void *)(uintptr_t)reply->body,
		MHD_RESPMEM_MUST_COPY);

	peer->status = reply->status;
	if (!response)
		return NULL;
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
				reply->content_type);
	if (reply->retry_after)
		MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER,
					"1");
	if (atomic_load_explicit(&peer->server->draining, memory_order_relaxed))
		MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION,
					"close");
	return response;
}

static enum MHD_Result send_response(struct peer *peer,
				     struct MHD_Connection *connection,
				     struct MHD_Response *response)
{
	enum MHD_Result result;

	/* Without memory for a reply, MHD_NO closes the connection. */
	if (!response)
		return MHD_NO;
	connection_phase(&peer->connection, PHASE_REPLY);
	result = MHD_queue_response(connection, peer->status, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result reject_request(struct peer *peer,
				      struct MHD_Connection *connection,
				      const struct refusal *refusal)
{
	const struct admission_reply reply = {
		.status = refusal->status,
		.retry_after = refusal->status == 429,
		.content_type = "text/plain",
		.body = refusal->text,
		.len = strlen(refusal->text),
	};
	struct MHD_Response *response = make_response(peer, &reply);

	if (response && refusal == &wrong_method)
		MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW,
					MHD_HTTP_METHOD_POST);
	return send_response(peer, connection, response);
}

/* A review, and the response to it. The response is NULL if memory runs out, or
 * a refusal is set. */
struct review_work {
	struct peer *peer;
	struct admission_worker **worker;
	const char *body;
	size_t len;
	const char *problem; /* reason why only the start is read, or NULL */
	struct MHD_Response *response;
};

static void judge_body(void *context)
{
	struct review_work *j = context;
	struct server *server = j->peer->server;
	struct admission_reply reply;

	if (!*j->worker)
		*j->worker = admission_worker_new(server->options.admission);
	if (!j->problem)
		admission_review(*j->worker, j->peer->path, j->body, j->len,
				 &reply);
	else if (!admission_review_start(
			 *j->worker, j->peer->path,
			 &(struct review_start){j->body, j->len, j->problem},
			 &reply))
		return;
	j->response = make_response(j->peer, &reply);
}

static void drop_worker(struct admission_worker **worker)
{
	admission_worker_free(*worker);
	*worker = NULL;
}

static void refuse_review(struct peer *peer, enum escape why)
{
	const struct server *server = peer->server;
	bool memory = why == ESCAPE_MEMORY;

	peer->refusal = memory ? &memory_used : &out_of_time;
	metrics_add(server->options.metrics,
		    memory ? METRICS_MEMORY_REFUSED : METRICS_OVERLOAD, 1);
	log_say(server->options.log, LOG_WARN,
		"a review was rejected with 429: %s",
		memory ? "out of memory" : "it took too long");
}

static void judge_guarded(struct review_work *j,
			  const struct escape_limits *limits);

/* Answers, from its first bytes, a review that used too much processor time or
 * memory. The limit is the remaining time, but at least START_MS. */
static void judge_by_start(struct review_work *j, struct escape_limits limits,
			   int64_t began)
{
	limits.elapsed -= monotonic_ms() - began;
	if (limits.elapsed < START_MS)
		limits.elapsed = START_MS;
	j->problem = "checking it takes too much time or memory";
	if (j->len > LONG_START)
		j->len = LONG_START;
	judge_guarded(j, &limits);
}

/*
 * Checks a review within the limits. If it exceeds them, its state is freed. A
 * review that used too much processor time or memory is then answered from its
 * start; any other, for example one that had no time left, is answered with
 * 429.
 */
static void judge_guarded(struct review_work *j,
			  const struct escape_limits *limits)
{
	int64_t began = monotonic_ms();
	enum escape why = escape_run(judge_body, j, limits);

	if (why == ESCAPE_NONE)
		return;
	drop_worker(j->worker);
	if (why == ESCAPE_WORK && !j->problem) {
		judge_by_start(j, *limits, began);
		if (j->response || j->peer->refusal)
			return;
	}
	refuse_review(j->peer, why);
}

/*
 * Returns the response; NULL if memory runs out, or if peer->refusal has the
 * reason.
 */
static struct MHD_Response *answer_review(struct peer *peer, const char *body,
					  size_t len)
{
	struct review_work j = {.peer = peer,
				.worker = &peer->thread->worker,
				.body = body,
				.len = len};

	connection_phase(&peer->connection, PHASE_REPLY);
	judge_guarded(&j, &review_limits);
	return j.response;
}

void server_judge_large(struct peer *peer)
{
	struct admission_worker *worker = NULL;
	struct review_work j = {.peer = peer,
				.worker = &worker,
				.body = peer->body.data,
				.len = peer->body.len};
	struct escape_limits limits = review_limits;

	limits.elapsed += peer->since - monotonic_ms();
	if (limits.elapsed > 0)
		judge_guarded(&j, &limits);
	else
		refuse_review(peer, ESCAPE_TIME);
	drop_worker(&worker);
	peer->response = j.response;
	if (!j.response && !peer->refusal)
		refuse_review(peer, ESCAPE_MEMORY);
}

/* Answers a review that is too long, from its start. Returns NULL if the
 * objects begin after that start, or if peer->refusal has the reason. */
static struct MHD_Response *judge_start(struct peer *peer)
{
	struct review_work j = {.peer = peer,
				.worker = &peer->thread->worker,
				.body = peer->body.data,
				.len = peer->body.len,
				.problem =
					"the review is longer than --max-body"};

	connection_phase(&peer->connection, PHASE_REPLY);
	if (j.len)
		judge_guarded(&j, &review_limits);
	return j.response;
}

/* --- the three calls ------------------------------------------------------ */

/*
 * Counts the request as in flight, and rejects it beyond --max-in-flight.
 * Requests that wait for slow clients do not count for the limit: otherwise a
 * few hundred of them would lock out all others.
 */
static void count_in(struct peer *peer)
{
	struct server *server = peer->server;
	unsigned before = atomic_fetch_add(&server->in_flight, 1);
	unsigned slow = connection_table_slow(server->table);

	peer->counted = true;
	metrics_in_flight(server->options.metrics, 1);
	if (!peer->refusal && before >= server->options.max_in_flight + slow) {
		metrics_add(server->options.metrics, METRICS_OVERLOAD, 1);
		peer->refusal = &overload;
	}
}

/* Returns true if the rejection must be sent before the body arrives: the
 * connection must be closed, the body is too long to read and drop, or the
 * client waits for "100 Continue" and sends no body. */
static bool is_urgent(const struct peer *peer, const struct headers *headers)
{
	return peer->refusal->close || headers->expects ||
	       peer->expected > DROP_MAX;
}

static enum MHD_Result begin(struct peer *peer,
			     struct MHD_Connection *connection, const char *url,
			     const char *method)
{
	struct headers headers = {0};

	MHD_get_connection_values_n(connection, MHD_HEADER_KIND, see_header,
				    &headers);
	/* The URL is not decoded: see keep_path() in server.c. */
	headers.malformed |= strstr(url, "%00") != NULL;
	connection_phase(&peer->connection, PHASE_BODY);
	peer->refusal = check_headers(peer, connection, &headers);
	if (!peer->refusal || peer->refusal == &too_large)
		check_request(peer, url, method, &headers);
	count_in(peer);
	if (peer->refusal && is_urgent(peer, &headers))
		return reject_request(peer, connection, peer->refusal);
	return MHD_YES;
}

/* Keeps the start of a body that is too long. If memory runs out, the client
 * gets 413. */
static void take_start(struct peer *peer, const char *data, size_t len)
{
	size_t room = LONG_START - peer->body.len;

	if (room)
		server_body_add(peer, data, len < room ? len : room);
}

static void append_body(struct peer *peer, const char *data, size_t len)
{
	if (peer->refusal == &too_large)
		take_start(peer, data, len);
	if (peer->refusal)
		return;
	if (len == peer->expected) {
		peer->response = answer_review(peer, data, len);
		return;
	}
	if (server_body_add(peer, data, len) == 0)
		return;
	server_body_release(peer);
	peer->refusal = &memory_used;
}

static enum MHD_Result finish(struct peer *peer,
			      struct MHD_Connection *connection)
{
	struct MHD_Response *response = peer->response;

	if (peer->refusal == &too_large)
		response = judge_start(peer);
	if (peer->refusal && !response)
		return reject_request(peer, connection, peer->refusal);
	peer->response = NULL;
	if (!response && peer->body.len > LARGE_OVER) {
		connection_phase(&peer->connection, PHASE_REPLY);
		server_large_add(peer, connection);
		return MHD_YES;
	}
	if (!response)
		response = answer_review(peer,
					 peer->body.len ? peer->body.data : "",
					 peer->body.len);
	if (!response && peer->refusal)
		return reject_request(peer, connection, peer->refusal);
	server_wire_hold(peer);
	return send_response(peer, connection, response);
}

/* NOLINTNEXTLINE(readability-function-size): signature of the library. */
enum MHD_Result server_request(void *cls, struct MHD_Connection *connection,
			       const char *url, const char *method,
			       const char *version, const char *upload,
			       size_t *upload_len, void **context)
{
	struct server_thread *thread = cls;
	struct peer *peer = *context;

	thread->moves++;
	if (!peer) {
		*context = peer = server_peer(connection);
		if (!peer)
			return MHD_NO;
		return begin(peer, connection, url, method);
	}
	if (*upload_len) {
		append_body(peer, upload, *upload_len);
		*upload_len = 0;
		return MHD_YES;
	}
	return finish(peer, connection);
}

void server_request_end(void *cls, struct MHD_Connection *connection,
			void **context, enum MHD_RequestTerminationCode reason)
{
	struct peer *peer = *context;

	if (!peer)
		return;
	server_wire_release(peer);
	server_body_release(peer);
	if (peer->response)
		MHD_destroy_response(peer->response);
	peer->response = NULL;
	peer->refusal = NULL;
	if (peer->counted) {
		atomic_fetch_sub(&peer->server->in_flight, 1);
		metrics_in_flight(peer->server->options.metrics, -1);
	}
	peer->counted = false;
	atomic_store_explicit(&peer->connection.served, true,
			      memory_order_relaxed);
	connection_phase(&peer->connection, PHASE_IDLE);
}
