/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server's response to each request: reviews are answered however their
 * bytes arrive, other requests are rejected with a reason, and the connection
 * stays open if possible.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "server_fixture.h"

static int set_up(void **state)
{
	static struct stage stage;

	stage_init(&stage);
	stage.options.max_in_flight = 3;
	stage_start(&stage);
	*state = &stage;
	return 0;
}

static int tear_down(void **state)
{
	stage_end(*state);
	return 0;
}

#define JSON "Content-Type: application/json\r\n"
#define HOST "Host: a\r\n"

/* A request, its response, and whether the connection stays open. */
struct exchange {
	const char *what, *request;
	int status; /* 0: 400, or an end without a response (MHD 1.0) */
	bool lives;
	const char *header; /* part of the response's headers, or NULL */
};

static const struct exchange exchanges[] = {
	{"validate",
	 "POST /validate?timeout=10s HTTP/1.1\r\n" HOST JSON
	 "Content-Length: 2\r\n\r\n{}",
	 200, true, "Content-Type: application/json"},
	{"mutate",
	 "POST /mutate?timeout=10s HTTP/1.1\r\n" HOST JSON
	 "Content-Length: 2\r\n\r\n{}",
	 200, true, NULL},
	{"without a query",
	 "POST /mutate HTTP/1.1\r\n" HOST JSON "Content-Length: 2\r\n\r\n{}",
	 200, true, NULL},
	{"as Go sends it",
	 "POST /mutate?timeout=3s HTTP/1.1\r\nHost: g.g.svc:443\r\n"
	 "User-Agent: kube-apiserver-admission\r\nContent-Length: 2\r\n"
	 "Accept: application/json, */*\r\n" JSON
	 "Accept-Encoding: gzip\r\n\r\n{}",
	 200, true, NULL},
	{"with a character set",
	 "POST /mutate HTTP/1.1\r\n" HOST
	 "Content-Type: application/json; charset=utf-8\r\n"
	 "Content-Length: 2\r\n\r\n{}",
	 200, true, NULL},
	{"with another letter case",
	 "POST /mutate HTTP/1.1\r\nhOST: a\r\ncontent-type: "
	 "Application/JSON\r\n"
	 "content-length: 2\r\n\r\n{}",
	 200, true, NULL},
	{"expecting 100",
	 "POST /mutate HTTP/1.1\r\n" HOST JSON
	 "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n{}",
	 200, true, NULL},
	{"the client closes",
	 "POST /mutate HTTP/1.1\r\n" HOST JSON
	 "Connection: close\r\nContent-Length: 2\r\n\r\n{}",
	 200, false, "Connection: close"},
	{"HTTP/1.0",
	 "POST /mutate HTTP/1.0\r\n" HOST JSON "Content-Length: 2\r\n\r\n{}",
	 200, false, NULL},
	{"GET", "GET /mutate HTTP/1.1\r\n" HOST "\r\n", 405, true,
	 "Allow: POST"},
	{"PUT",
	 "PUT /mutate HTTP/1.1\r\n" HOST JSON "Content-Length: 2\r\n\r\n{}",
	 405, true, "Allow: POST"},
	{"DELETE", "DELETE /validate HTTP/1.1\r\n" HOST "\r\n", 405, true,
	 "Allow: POST"},
	{"no such path",
	 "POST /convert HTTP/1.1\r\n" HOST JSON "Content-Length: 2\r\n\r\n{}",
	 404, true, NULL},
	{"root", "GET / HTTP/1.1\r\n" HOST "\r\n", 404, true, NULL},
	{"a path below",
	 "POST /mutate/x HTTP/1.1\r\n" HOST JSON "Content-Length: 2\r\n\r\n{}",
	 404, true, NULL},
	{"two slashes",
	 "POST //mutate HTTP/1.1\r\n" HOST JSON "Content-Length: 2\r\n\r\n{}",
	 404, true, NULL},
	{"no type",
	 "POST /mutate HTTP/1.1\r\n" HOST "Content-Length: 2\r\n\r\n{}", 415,
	 true, NULL},
	{"two types",
	 "POST /mutate HTTP/1.1\r\n" HOST JSON JSON
	 "Content-Length: 2\r\n\r\n{}",
	 415, true, NULL},
	{"YAML",
	 "POST /mutate HTTP/1.1\r\n" HOST "Content-Type: application/yaml\r\n"
	 "Content-Length: 2\r\n\r\n{}",
	 415, true, NULL},
	{"a longer type",
	 "POST /mutate HTTP/1.1\r\n" HOST
	 "Content-Type: application/json-patch+json\r\n"
	 "Content-Length: 2\r\n\r\n{}",
	 415, true, NULL},
	{"gzip",
	 "POST /mutate HTTP/1.1\r\n" HOST JSON
	 "Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}",
	 415, true, NULL},
	{"no length", "POST /mutate HTTP/1.1\r\n" HOST JSON "\r\n", 411, true,
	 NULL},
	{"chunked",
	 "POST /mutate HTTP/1.1\r\n" HOST JSON
	 "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
	 400, false, NULL},
	{"chunked and a length",
	 "POST /mutate HTTP/1.1\r\n" HOST JSON
	 "Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n{}",
	 400, false, NULL},
	{"an unknown coding",
	 "POST /mutate HTTP/1.1\r\n" HOST JSON
	 "Transfer-Encoding: x\r\nContent-Length: 2\r\n\r\n{}",
	 400, false, NULL},
	{"two lengths",
	 "POST /mutate HTTP/1.1\r\n" HOST JSON
	 "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
	 400, false, NULL},
	{"two different lengths",
	 "POST /mutate HTTP/1.1\r\n" HOST JSON
	 "Content-Length: 2\r\nContent-Length: 40\r\n\r\n{}",
	 400, false, NULL},
	{"two lengths in one",
	 "POST /mutate HTTP/1.1\r\n" HOST JSON "Content-Length: 2, 2\r\n\r\n{}",
	 400, false, NULL},
	{"a negative length",
	 "POST /mutate HTTP/1.1\r\n" HOST JSON "Content-Length: -2\r\n\r\n{}",
	 400, false, NULL},
	{"a signed length",
	 "POST /mutate HTTP/1.1\r\n" HOST JSON "Content-Length: +2\r\n\r\n{}",
	 400, false, NULL},
	{"an endless length",
	 "POST /mutate HTTP/1.1\r\n" HOST JSON
	 "Content-Length: 99999999999999999999\r\n\r\n{}",
	 413, false, NULL},
	{"a blank before the colon",
	 "POST /mutate HTTP/1.1\r\n" HOST JSON
	 "Transfer-Encoding : chunked\r\nContent-Length: 2\r\n\r\n{}",
	 400, false, NULL},
	{"a CR that ends no line",
	 "POST /mutate HTTP/1.1\r\n" HOST JSON
	 "X: a\rTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n{}",
	 400, false, NULL},
	{"a NUL in the path",
	 "POST /mutate%00x HTTP/1.1\r\n" HOST JSON
	 "Content-Length: 2\r\n\r\n{}",
	 400, false, NULL},
	{"two hosts",
	 "POST /mutate HTTP/1.1\r\n" HOST HOST JSON
	 "Content-Length: 2\r\n\r\n{}",
	 400, false, NULL},
	{"no host",
	 "POST /mutate HTTP/1.1\r\n" JSON "Content-Length: 2\r\n\r\n{}", 400,
	 false, NULL},
	{"far too much",
	 "POST /mutate HTTP/1.1\r\n" HOST JSON
	 "Content-Length: 70000000\r\n\r\n{}",
	 413, false, NULL},
	{"too much, expecting 100",
	 "POST /mutate HTTP/1.1\r\n" HOST JSON
	 "Expect: 100-continue\r\nContent-Length: 1048577\r\n\r\n",
	 413, false, NULL},
	{"the wrong path, expecting 100",
	 "POST /x HTTP/1.1\r\n" HOST JSON
	 "Expect: 100-continue\r\nContent-Length: 5\r\n\r\n",
	 404, false, NULL},
	{"the webhook's own status",
	 "POST /mutate HTTP/1.1\r\n" HOST JSON
	 "Content-Length: 10\r\n\r\nstatus 400",
	 400, true, "Content-Type: text/plain"},
	{"the webhook is not ready",
	 "POST /mutate HTTP/1.1\r\n" HOST JSON
	 "Content-Length: 10\r\n\r\nstatus 503",
	 503, true, "Retry-After: 1"},
	{"no HTTP", "\x16\x03\x01 hello\r\n\r\n", 0, false, NULL},
};

static void try_exchange(const struct stage *stage, const struct exchange *e)
{
	struct caller caller;
	struct answer answer;

	print_message("  %s\n", e->what);
	caller_open(&caller, stage);
	assert_true(caller_send(&caller, e->request, strlen(e->request)));
	caller_answer(&caller, &answer);
	if (e->status || answer.status != 400)
		assert_int_equal(answer.status, e->status);
	assert_true(answer.len > 0 || !e->status);
	if (e->header)
		assert_non_null(strstr(answer.head, e->header));
	answer_free(&answer);
	if (e->lives) {
		assert_true(caller_post(&caller, "{}", 2));
		assert_int_equal(caller_status(&caller), 200);
	} else {
		assert_true(caller_ends(&caller, 2000));
	}
	caller_close(&caller);
}

static void each_request_has_its_answer(void **state)
{
	for (size_t i = 0; i < sizeof(exchanges) / sizeof(*exchanges); i++)
		try_exchange(*state, &exchanges[i]);
}

/* HEAD has no body: the headers must not wait for one. */
static void head_has_no_body(void **state)
{
	static const char head[] = "HEAD /mutate HTTP/1.1\r\n" HOST "\r\n";
	struct caller caller;
	struct answer answer;

	caller_open(&caller, *state);
	for (int i = 0; i < 2; i++) {
		memset(&answer, 0, sizeof(answer));
		assert_true(caller_send(&caller, head, sizeof(head) - 1));
		assert_true(read_head(&caller, &answer));
		assert_non_null(strstr(answer.head, " 405 "));
	}
	caller_close(&caller);
}

static void bodies_of_all_sizes_arrive(void **state)
{
	static const size_t sizes[] = {0,     1,     100,    3000,   4000,
				       8191,  8192,  8193,   16384,  20000,
				       65536, 70000, 600000, 1 << 20};
	char *body = malloc(1 << 20);
	struct caller caller;

	memset(body, ' ', 1 << 20);
	caller_open(&caller, *state);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		assert_true(caller_post(&caller, body, sizes[i]));
		assert_int_equal(caller_status(&caller), 200);
	}
	caller_close(&caller);
	free(body);
}

/* The client gets the reason, and its connection stays open. */
static void a_body_that_is_too_large_is_answered(void **state)
{
	enum { LEN = 8 << 20 };
	char *body = malloc(LEN);
	struct caller caller;

	memset(body, ' ', LEN);
	caller_open(&caller, *state);
	assert_true(caller_post(&caller, body, (1 << 20) + 1));
	assert_int_equal(caller_status(&caller), 413);
	assert_true(caller_post(&caller, body, LEN));
	assert_int_equal(caller_status(&caller), 413);
	assert_true(caller_post(&caller, "{}", 2));
	assert_int_equal(caller_status(&caller), 200);
	caller_close(&caller);
	free(body);
}

static void replies_of_all_sizes_arrive(void **state)
{
	static const size_t sizes[] = {1,     100,    380,     500,
				       4000,  16000,  16384,   17000,
				       70000, 500000, 1 << 20, 8 << 20};
	struct caller caller;
	struct answer answer;

	caller_open(&caller, *state);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		char body[40];
		int n = snprintf(body, sizeof(body), "large %zu", sizes[i]);

		assert_true(caller_post(&caller, body, (size_t)n));
		caller_answer(&caller, &answer);
		assert_int_equal(answer.status, 200);
		assert_int_equal(answer.len, sizes[i]);
		for (size_t j = 0; j < answer.len; j++)
			if (answer.body[j] != 'x')
				fail_msg("byte %zu of %zu", j, sizes[i]);
		answer_free(&answer);
	}
	caller_close(&caller);
}

/* Each byte in a separate record, and records cut in two on the way. */
static void a_request_may_come_byte_by_byte(void **state)
{
	static const char request[] =
		"POST /mutate?timeout=1s HTTP/1.1\r\n" HOST JSON
		"Content-Length: 7\r\n\r\nsleep 1";
	struct caller caller;

	caller_open(&caller, *state);
	for (size_t i = 0; i < sizeof(request) - 1; i++)
		assert_true(caller_send(&caller, request + i, 1));
	assert_int_equal(caller_status(&caller), 200);
	caller_close(&caller);
}

static void requests_may_follow_without_waiting(void **state)
{
	static const char two[] = "POST /mutate HTTP/1.1\r\n" HOST JSON
				  "Content-Length: 2\r\n\r\n{}"
				  "POST /validate HTTP/1.1\r\n" HOST JSON
				  "Content-Length: 10\r\n\r\nstatus 503"
				  "GET /none HTTP/1.1\r\n" HOST "\r\n";
	struct caller caller;

	caller_open(&caller, *state);
	assert_true(caller_send(&caller, two, sizeof(two) - 1));
	assert_int_equal(caller_status(&caller), 200);
	assert_int_equal(caller_status(&caller), 503);
	assert_int_equal(caller_status(&caller), 404);
	caller_close(&caller);
}

/* Headers that do not fit are rejected, not waited for. */
static void headers_that_do_not_fit_are_refused(void **state)
{
	char *line = malloc(20000);
	struct caller caller;
	int status;

	memset(line, 'a', 20000);
	caller_open(&caller, *state);
	caller_send(&caller, "POST /mutate HTTP/1.1\r\nX: ", 26);
	caller_send(&caller, line, 20000);
	status = caller_status(&caller);
	assert_true(status == 0 || (status >= 400 && status < 500));
	assert_true(caller_ends(&caller, 2000));
	caller_close(&caller);
	free(line);
	assert_int_equal(stage_ask(*state, "{}"), 200);
}

/* --- too many at once ----------------------------------------------------- */

/* Sends the headers, but not the body. */
static void begin_review(struct caller *caller, const struct stage *stage)
{
	static const char head[] = "POST /mutate HTTP/1.1\r\n" HOST JSON
				   "Content-Length: 2\r\n\r\n";

	caller_open(caller, stage);
	assert_true(caller_send(caller, head, sizeof(head) - 1));
}

static void wait_in_flight(const struct stage *stage, unsigned n)
{
	for (int i = 0; i < 200; i++) {
		if (server_in_flight(stage->server) == n)
			return;
		pause_ms(10);
	}
	fail_msg("in flight: %u", server_in_flight(stage->server));
}

/* Returns false if the machine stopped the test for so long that the result is
 * wrong: a client that waits for long does not count against the others. */
static bool overload(const struct stage *stage)
{
	struct caller waiting[3], late;
	struct answer answer;
	bool good;

	for (int i = 0; i < 3; i++)
		begin_review(&waiting[i], stage);
	wait_in_flight(stage, 3);
	caller_open(&late, stage);
	assert_true(caller_post(&late, "{}", 2));
	caller_answer(&late, &answer);
	good = answer.status == 429 &&
	       strstr(answer.head, "Retry-After: 1\r\n") &&
	       !strstr(answer.head, "Connection: close");
	answer_free(&answer);
	for (int i = 0; i < 3; i++) {
		assert_true(caller_send(&waiting[i], "{}", 2));
		good &= caller_status(&waiting[i]) == 200;
	}
	wait_in_flight(stage, 0);
	assert_true(caller_post(&late, "{}", 2));
	good &= caller_status(&late) == 200;
	for (int i = 0; i < 3; i++)
		caller_close(&waiting[i]);
	caller_close(&late);
	return good;
}

static void overload_is_answered(void **state)
{
	const struct stage *stage = *state;
	double before = stage_figure(stage, "gpugate_overload_total");
	int tries = 0;

	while (!overload(stage))
		if (++tries == 10)
			fail_msg("nobody is told to come again");
	assert_true(stage_figure(stage, "gpugate_overload_total") > before);
}

/* All memory is free after a client disconnects in the middle of a request. */
static void a_client_that_goes_leaves_nothing(void **state)
{
	const struct stage *stage = *state;
	struct caller caller;

	for (int i = 0; i < 20; i++) {
		begin_review(&caller, stage);
		if (i % 2)
			assert_true(caller_send(&caller, "{", 1));
		caller_close(&caller);
	}
	wait_in_flight(stage, 0);
	for (int i = 0; i < 200 && server_connections(stage->server); i++)
		pause_ms(10);
	assert_int_equal(server_connections(stage->server), 0);
	assert_int_equal(stage_ask(stage, "{}"), 200);
}

/* The server and the clients are in one process, so their CPU time is added. */
static void wait_until_idle(void)
{
	clock_t before, now = clock();

	do {
		before = now;
		pause_ms(500);
		now = clock();
	} while (now - before > CLOCKS_PER_SEC / 20);
}

static void bytes_in_flight_are_limited(void **state)
{
	/* 24.5 MiB of MEMORY are for the bodies of large reviews. */
	enum { N = 30, LEN = 1000000, MEMORY = 56 << 20 };
	struct stage stage;
	struct caller callers[N];
	char *body = malloc(LEN);
	unsigned refused = 0, good = 0;

	(void)state;
	memset(body, ' ', LEN);
	stage_init(&stage);
	stage.options.max_memory = MEMORY;
	stage_start(&stage);
	for (int i = 0; i < N; i++) {
		caller_open(&callers[i], &stage);
		assert_true(caller_post(&callers[i], body, 0));
		assert_int_equal(caller_status(&callers[i]), 200);
	}
	for (int i = 0; i < N; i++) {
		char head[200];
		int n = snprintf(head, sizeof(head),
				 "POST /mutate HTTP/1.1\r\n" HOST JSON
				 "Content-Length: %d\r\n\r\n",
				 LEN);

		assert_true(caller_send(&callers[i], head, (size_t)n));
		assert_true(caller_send(&callers[i], body, LEN - 1));
	}
	wait_in_flight(&stage, N);
	wait_until_idle(); /* the server has read all bytes */
	assert_int_equal(stage_ask(&stage, "{}"), 200);
	for (int i = 0; i < N; i++) {
		int status;

		assert_true(caller_send(&callers[i], body, 1));
		status = caller_status(&callers[i]);
		refused += status == 429;
		good += status == 200;
		caller_close(&callers[i]);
	}
	assert_int_equal(refused + good, N);
	assert_true(refused > 0);
	assert_true(good >= 20);
	assert_true(stage_figure(&stage, "gpugate_memory_refused_total") ==
		    refused);
	stage_end(&stage);
	free(body);
}

/* --- drain, stop ---------------------------------------------------------- */

static void draining_ends_connections_politely(void **state)
{
	struct stage stage;
	struct caller old, new;
	struct answer answer;

	(void)state;
	stage_init(&stage);
	stage_start(&stage);
	caller_open(&old, &stage);
	assert_true(caller_post(&old, "{}", 2));
	caller_answer(&old, &answer);
	assert_null(strstr(answer.head, "Connection: close"));
	answer_free(&answer);
	server_drain(stage.server);
	assert_false(caller_ends(&old, 200));
	caller_open(&new, &stage);
	assert_true(caller_post(&new, "{}", 2));
	assert_true(caller_post(&old, "{}", 2));
	caller_answer(&new, &answer);
	assert_int_equal(answer.status, 200);
	assert_non_null(strstr(answer.head, "Connection: close"));
	answer_free(&answer);
	assert_int_equal(caller_status(&old), 200);
	assert_true(caller_ends(&old, 10000));
	assert_true(caller_ends(&new, 10000));
	for (int i = 0; i < 100 && server_connections(stage.server); i++)
		pause_ms(10);
	assert_int_equal(server_connections(stage.server), 0);
	caller_close(&old);
	caller_close(&new);
	stage_end(&stage);
}

/* Stopping cuts all open connections, in any phase. */
static void stopping_cuts_every_connection(void **state)
{
	struct stage stage;
	struct caller idle, half;
	int raw;

	(void)state;
	stage_init(&stage);
	stage_start(&stage);
	caller_open(&idle, &stage);
	begin_review(&half, &stage);
	raw = dial(server_port(stage.server));
	wait_in_flight(&stage, 1);
	stage_end(&stage);
	assert_true(caller_ends(&idle, 2000));
	assert_true(caller_ends(&half, 2000));
	close(raw);
	caller_close(&idle);
	caller_close(&half);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_request_has_its_answer),
		cmocka_unit_test(head_has_no_body),
		cmocka_unit_test(bodies_of_all_sizes_arrive),
		cmocka_unit_test(replies_of_all_sizes_arrive),
		cmocka_unit_test(a_body_that_is_too_large_is_answered),
		cmocka_unit_test(a_request_may_come_byte_by_byte),
		cmocka_unit_test(requests_may_follow_without_waiting),
		cmocka_unit_test(headers_that_do_not_fit_are_refused),
		cmocka_unit_test(overload_is_answered),
		cmocka_unit_test(a_client_that_goes_leaves_nothing),
		cmocka_unit_test(bytes_in_flight_are_limited),
		cmocka_unit_test(draining_ends_connections_politely),
		cmocka_unit_test(stopping_cuts_every_connection),
	};

	return cmocka_run_group_tests_name("server", tests, set_up, tear_down);
}
