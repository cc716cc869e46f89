/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slow clients: each phase ends whether the client is silent or sends byte by
 * byte, idle connections stay open, and a full table closes some. Only the test
 * moves the clock of connections, so the load of the machine does not matter.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "server_fixture.h"

enum {
	LIMIT_MS = 100000, /* limit of the phase under test */
	NEVER = 1000000,   /* seconds; limit of all other phases */
	ROUNDS = 5000,	   /* maximum number of rounds, each at least 20 ms */
};

static atomic_llong stands_at_ms = 1000000;
static atomic_bool goes; /* if set, the clock runs by itself */

/* Replaces clock_gettime() of libc for the clocks of connections. */
int clock_gettime(clockid_t clock, struct timespec *out)
{
	long long ms = atomic_load(&stands_at_ms);

	if (clock != CLOCK_MONOTONIC_COARSE || atomic_load(&goes))
		return (int)syscall(SYS_clock_gettime, clock, out);
	*out = (struct timespec){.tv_sec = ms / 1000,
				 .tv_nsec = ms % 1000 * 1000000};
	return 0;
}

static void advance(int ms)
{
	atomic_fetch_add(&stands_at_ms, ms);
}

static void stage_without_limits(struct stage *stage)
{
	stage_init(stage);
	stage->options.handshake_seconds = NEVER;
	stage->options.header_seconds = NEVER;
	stage->options.body_seconds = NEVER;
	stage->options.idle_seconds = NEVER;
}

static double timeouts(const struct stage *stage, const char *phase)
{
	char name[80];

	snprintf(name, sizeof(name), "gpugate_timeouts_total{phase=\"%s\"}",
		 phase);
	return stage_figure(stage, name);
}

/* Moves the clock in steps of a tenth of the limit, and sends one byte or none
 * in each step. The connection must end at the limit, neither before nor after
 * it, however many bytes arrive. If the server notices the start of the phase
 * late, the connection may end that much later. */
static void assert_cut(const struct stage *stage, const char *phase,
		       struct caller *caller, const char *drip)
{
	double before = timeouts(stage, phase);
	int n = 0;

	while (!caller_ends(caller, 20)) {
		assert_true(n++ < ROUNDS);
		advance(LIMIT_MS / 10);
		if (drip && !caller_send(caller, drip, 1))
			break;
	}
	assert_true(n > 10);
	assert_true(timeouts(stage, phase) == before + 1);
	assert_int_equal(stage_ask(stage, "{}"), 200);
}

static void try_handshake(const struct stage *stage, bool dripping)
{
	/* A ClientHello that never ends. */
	static const unsigned char hello[] = {0x16, 3, 1, 2, 0, 1, 0, 1, 252};
	double before = timeouts(stage, "handshake");
	int fd = dial(server_port(stage->server)), n = 0;

	while (!poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, 20)) {
		if (dripping && n < (int)sizeof(hello))
			assert_int_equal(send(fd, hello + n, 1, MSG_NOSIGNAL),
					 1);
		assert_true(n++ < ROUNDS);
		advance(LIMIT_MS / 10);
	}
	assert_true(n > 10);
	assert_true(timeouts(stage, "handshake") == before + 1);
	close(fd);
}

static void slow_handshakes_end(void **state)
{
	struct stage stage;

	(void)state;
	stage_without_limits(&stage);
	stage.options.handshake_seconds = LIMIT_MS / 1000;
	stage_start(&stage);
	try_handshake(&stage, false);
	try_handshake(&stage, true);
	assert_int_equal(stage_ask(&stage, "{}"), 200);
	stage_end(&stage);
}

static void slow_headers_end(void **state)
{
	struct stage stage;

	(void)state;
	stage_without_limits(&stage);
	stage.options.header_seconds = LIMIT_MS / 1000;
	stage_start(&stage);
	for (int i = 0; i < 4; i++) {
		struct caller caller;

		caller_open(&caller, &stage);
		/* Tested as the first request of a connection, and as the
		 * second. */
		if (i & 2) {
			assert_true(caller_post(&caller, "{}", 2));
			assert_int_equal(caller_status(&caller), 200);
		}
		assert_true(caller_send(&caller,
					"POST /mutate HTTP/1.1\r\nX: ", 26));
		assert_cut(&stage, "header", &caller, i & 1 ? "a" : NULL);
		caller_close(&caller);
	}
	stage_end(&stage);
}

static void try_body(const char *head, const char *drip)
{
	struct stage stage;
	struct caller caller;

	stage_without_limits(&stage);
	stage.options.body_seconds = LIMIT_MS / 1000;
	stage_start(&stage);
	caller_open(&caller, &stage);
	assert_true(caller_send(&caller, head, strlen(head)));
	assert_cut(&stage, "body", &caller, drip);
	caller_close(&caller);
	stage_end(&stage);
}

static void slow_bodies_end(void **state)
{
	static const char head[] = "POST /mutate HTTP/1.1\r\nHost: a\r\n"
				   "Content-Type: application/json\r\n"
				   "Content-Length: 500000\r\n\r\n";

	(void)state;
	try_body(head, NULL);
	try_body(head, " ");
}

/* The body of a rejected request is dropped, but only up to a limit. */
static void the_body_of_a_refused_request_ends(void **state)
{
	(void)state;
	try_body("POST /none HTTP/1.1\r\nHost: a\r\n"
		 "Content-Length: 500000\r\n\r\n{",
		 NULL);
}

/* A client requests much and does not read. */
static void slow_readers_end(void **state)
{
	struct stage stage;
	struct caller caller;
	int n = 0;

	(void)state;
	stage_without_limits(&stage);
	stage.options.body_seconds = LIMIT_MS / 1000;
	stage_start(&stage);
	caller_open(&caller, &stage);
	assert_true(caller_post(&caller, "large 60000000", 14));
	for (; timeouts(&stage, "body") == 0; pause_ms(20)) {
		assert_true(n++ < ROUNDS);
		advance(LIMIT_MS / 10);
	}
	assert_true(n > 10);
	assert_int_equal(stage_ask(&stage, "{}"), 200);
	caller_close(&caller);
	stage_end(&stage);
}

static void wait_for_work(const struct stage *stage, unsigned requests)
{
	for (int i = 0; server_in_flight(stage->server) != requests; i++) {
		assert_true(i < ROUNDS);
		pause_ms(20);
	}
}

static void send_half(const struct stage *stage, struct caller *callers, int n)
{
	static const char head[] = "POST /mutate HTTP/1.1\r\nHost: a\r\n"
				   "Content-Type: application/json\r\n"
				   "Content-Length: 2\r\n\r\n{";

	for (int i = 0; i < n; i++) {
		caller_open(&callers[i], stage);
		assert_true(caller_send(&callers[i], head, sizeof(head) - 1));
	}
	wait_for_work(stage, (unsigned)n);
}

/* Slow bodies are in flight, but do not cause the rejection of others for
 * long. */
static void slow_bodies_do_not_crowd_others_out(void **state)
{
	enum { CROWD = 20 };
	struct stage stage;
	struct caller crowd[CROWD];
	int status, good = 0;

	(void)state;
	stage_without_limits(&stage);
	stage.options.max_in_flight = 2;
	stage_start(&stage);
	send_half(&stage, crowd, CROWD);
	assert_int_equal(stage_ask(&stage, "{}"), 429);
	advance(500);
	for (int i = 0; stage_ask(&stage, "{}") != 200; i++)
		assert_true(i < ROUNDS);
	/* A client gets its response before the request is subtracted. */
	for (int i = 0; server_in_flight(stage.server) != CROWD; i++) {
		assert_true(i < ROUNDS);
		usleep(1000);
	}
	for (int i = 0; i < 5; i++)
		assert_int_equal(stage_ask(&stage, "{}"), 200);
	/* Requests that were not rejected at once are still answered. */
	for (int i = 0; i < CROWD; i++) {
		assert_true(caller_send(&crowd[i], "}", 1));
		status = caller_status(&crowd[i]);
		assert_true(status == 200 || status == 429);
		good += status == 200;
		caller_close(&crowd[i]);
	}
	assert_true(good >= 2);
	wait_for_work(&stage, 0);
	/* The count is right afterward: two are in progress, a third is not. */
	send_half(&stage, crowd, 2);
	assert_int_equal(stage_ask(&stage, "{}"), 429);
	for (int i = 0; i < 2; i++)
		caller_close(&crowd[i]);
	stage_end(&stage);
}

/* The limit for the first bytes of a header does not limit the silence before
 * them. */
static void idle_connections_stay_open(void **state)
{
	struct stage stage;
	struct caller fresh, used;

	(void)state;
	stage_without_limits(&stage);
	stage.options.header_seconds = LIMIT_MS / 1000;
	stage_start(&stage);
	caller_open(&fresh, &stage);
	caller_open(&used, &stage);
	assert_true(caller_post(&used, "{}", 2));
	assert_int_equal(caller_status(&used), 200);
	for (int i = 0; i < 12; i++) {
		advance(LIMIT_MS / 4);
		assert_false(caller_ends(&fresh, 20));
	}
	assert_true(caller_post(&fresh, "{}", 2));
	assert_int_equal(caller_status(&fresh), 200);
	assert_true(caller_post(&used, "{}", 2));
	assert_int_equal(caller_status(&used), 200);
	caller_close(&fresh);
	caller_close(&used);
	stage_end(&stage);
}

/* libmicrohttpd applies this limit, so the test really waits. */
static void idle_connections_end_in_time(void **state)
{
	struct stage stage;
	struct caller caller;

	(void)state;
	atomic_store(&goes, true);
	stage_without_limits(&stage);
	stage.options.idle_seconds = 1;
	stage_start(&stage);
	caller_open(&caller, &stage);
	/* On a slow machine the request may come too late. */
	if (caller_post(&caller, "{}", 2))
		caller_status(&caller);
	assert_true(caller_ends(&caller, ROUNDS * 20));
	caller_close(&caller);
	stage_end(&stage);
	atomic_store(&goes, false);
}

/* When the table is full, idle connections are closed for a client that sends a
 * request. */
static void idle_clients_give_way_when_full(void **state)
{
	enum { MAX = 40 };
	struct stage stage;
	struct caller good, idle[MAX];
	int raw[MAX];

	(void)state;
	atomic_store(&goes, true);
	stage_without_limits(&stage);
	stage.options.max_connections = MAX;
	stage_start(&stage);
	caller_open(&good, &stage);
	assert_true(caller_post(&good, "{}", 2));
	assert_int_equal(caller_status(&good), 200);
	for (int i = 0; i < MAX / 2; i++)
		caller_open(&idle[i], &stage);
	for (int i = 0; i < MAX; i++)
		raw[i] = dial(server_port(stage.server));
	for (int i = 0; i < 5; i++) {
		assert_int_equal(stage_ask(&stage, "{}"), 200);
		assert_true(caller_post(&good, "{}", 2));
		assert_int_equal(caller_status(&good), 200);
	}
	for (int i = 0; i < MAX / 2; i++)
		caller_close(&idle[i]);
	for (int i = 0; i < MAX; i++)
		close(raw[i]);
	caller_close(&good);
	stage_end(&stage);
	atomic_store(&goes, false);
}

static int64_t cpu_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Handshakes that begin and wait use no CPU time and delay no other client. */
static void stalled_handshakes_delay_no_client(void **state)
{
	enum { STALLED = 20, MS = 500, ASKS = 20 };
	int fds[STALLED];
	int64_t cpu, began;
	struct stage stage;

	(void)state;
	stage_without_limits(&stage);
	stage_start(&stage);
	for (int i = 0; i < STALLED; i++) {
		fds[i] = dial(server_port(stage.server));
		assert_int_equal(send(fds[i], "\x16\x03\x01", 3, 0), 3);
	}
	pause_ms(100);
	cpu = cpu_ms();
	pause_ms(MS);
	cpu = cpu_ms() - cpu;
	print_message("  %d ms of CPU in %d ms\n", (int)cpu, MS);
	assert_true(cpu < MS / 5);
	began = clock_ms();
	for (int i = 0; i < ASKS; i++)
		assert_int_equal(stage_ask(&stage, "{}"), 200);
	/* Only printed. Each would take 20 ms longer if a response waited for
	 * bytes that never arrive. */
	print_message("  %d requests in %d ms\n", ASKS,
		      (int)(clock_ms() - began));
	for (int i = 0; i < STALLED; i++)
		close(fds[i]);
	stage_end(&stage);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slow_handshakes_end),
		cmocka_unit_test(slow_headers_end),
		cmocka_unit_test(slow_bodies_end),
		cmocka_unit_test(the_body_of_a_refused_request_ends),
		cmocka_unit_test(slow_readers_end),
		cmocka_unit_test(slow_bodies_do_not_crowd_others_out),
		cmocka_unit_test(idle_connections_stay_open),
		cmocka_unit_test(idle_connections_end_in_time),
		cmocka_unit_test(idle_clients_give_way_when_full),
		cmocka_unit_test(stalled_handshakes_delay_no_client),
	};

	return cmocka_run_group_tests_name("server_slow", tests, NULL, NULL);
}
