/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slow clients: each phase has an end whether the client is silent or drips,
 * idle connections are left alone, and a full table makes room.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "server_fixture.h"

/* A limit of one second, a watchdog every tenth of it, a slow machine. */
enum { EARLY_MS = 700, LATE_MS = 10000 };

static int set_up(void **state)
{
	static struct stage stage;

	stage_init(&stage);
	stage.options.handshake_seconds = 1;
	stage.options.header_seconds = 1;
	stage.options.body_seconds = 1;
	stage_start(&stage);
	*state = &stage;
	return 0;
}

static int tear_down(void **state)
{
	stage_end(*state);
	return 0;
}

static double timeouts(const struct stage *stage, const char *phase)
{
	char name[80];

	snprintf(name, sizeof(name), "gpugate_timeouts_total{phase=\"%s\"}",
		 phase);
	return stage_figure(stage, name);
}

/* Until the connection ends; ms since it began. A byte of text every 50 ms, or
 * none. */
static int64_t drip(struct caller *caller, int64_t began, const char *text)
{
	for (size_t i = 0; clock_ms() - began < 2 * LATE_MS; i++) {
		if (caller_ends(caller, 50))
			break;
		if (text && text[i] && !caller_send(caller, text + i, 1))
			break;
	}
	return clock_ms() - began;
}

static void assert_cut(const struct stage *stage, const char *phase,
		       double before, int64_t ms)
{
	if (ms < EARLY_MS || ms > LATE_MS)
		fail_msg("%s: cut after %d ms", phase, (int)ms);
	assert_true(timeouts(stage, phase) == before + 1);
	assert_int_equal(stage_ask(stage, "{}"), 200);
}

static void try_handshake(const struct stage *stage, bool dripping)
{
	/* A ClientHello that never ends. */
	static const unsigned char hello[] = {0x16, 3, 1, 2, 0, 1, 0, 1, 252};
	double before = timeouts(stage, "handshake");
	int64_t began = clock_ms();
	int fd = dial(server_port(stage->server));

	for (size_t i = 0; clock_ms() - began < 2 * LATE_MS; i++) {
		struct pollfd pfd = {.fd = fd, .events = POLLIN};

		if (poll(&pfd, 1, 50))
			break;
		if (dripping && i < sizeof(hello))
			assert_int_equal(send(fd, hello + i, 1, MSG_NOSIGNAL),
					 1);
	}
	assert_cut(stage, "handshake", before, clock_ms() - began);
	close(fd);
}

static void slow_handshakes_end(void **state)
{
	try_handshake(*state, false);
	try_handshake(*state, true);
}

static void slow_headers_end(void **state)
{
	static const char *const drips[] = {
		NULL,
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"};

	for (int i = 0; i < 4; i++) {
		double before = timeouts(*state, "header");
		struct caller caller;
		int64_t began;

		caller_open(&caller, *state);
		/* As the first request, and as the second. */
		if (i & 2) {
			assert_true(caller_post(&caller, "{}", 2));
			assert_int_equal(caller_status(&caller), 200);
			pause_ms(300);
		}
		began = clock_ms();
		assert_true(caller_send(&caller,
					"POST /mutate HTTP/1.1\r\nX: ", 26));
		assert_cut(*state, "header", before,
			   drip(&caller, began, drips[i & 1]));
		caller_close(&caller);
	}
}

static void slow_bodies_end(void **state)
{
	static const char head[] = "POST /mutate HTTP/1.1\r\nHost: a\r\n"
				   "Content-Type: application/json\r\n"
				   "Content-Length: 500000\r\n\r\n";
	static const char text[200] =
		"                                                              "
		"                                                              ";

	for (int i = 0; i < 2; i++) {
		double before = timeouts(*state, "body");
		struct caller caller;
		int64_t began;

		caller_open(&caller, *state);
		began = clock_ms();
		assert_true(caller_send(&caller, head, sizeof(head) - 1));
		assert_cut(*state, "body", before,
			   drip(&caller, began, i ? text : NULL));
		caller_close(&caller);
	}
}

/* A refused request's body is dropped, but not for ever. */
static void the_body_of_a_refused_request_ends(void **state)
{
	static const char head[] = "POST /none HTTP/1.1\r\nHost: a\r\n"
				   "Content-Length: 500000\r\n\r\n{";
	double before = timeouts(*state, "body");
	struct caller caller;
	int64_t began;

	caller_open(&caller, *state);
	began = clock_ms();
	assert_true(caller_send(&caller, head, sizeof(head) - 1));
	assert_cut(*state, "body", before, drip(&caller, began, NULL));
	caller_close(&caller);
}

/* It asks for much and does not read. */
static void slow_readers_end(void **state)
{
	const struct stage *stage = *state;
	double before = timeouts(stage, "body");
	struct caller caller;

	caller_open(&caller, stage);
	assert_true(caller_post(&caller, "large 60000000", 14));
	for (int i = 0; i < LATE_MS / 50 && timeouts(stage, "body") == before;
	     i++)
		pause_ms(50);
	assert_true(timeouts(stage, "body") == before + 1);
	assert_int_equal(stage_ask(stage, "{}"), 200);
	caller_close(&caller);
}

/* Slow bodies are in flight, but do not have others refused for long. */
static void slow_bodies_do_not_crowd_others_out(void **state)
{
	enum { CROWD = 20 };
	static const char head[] = "POST /mutate HTTP/1.1\r\nHost: a\r\n"
				   "Content-Type: application/json\r\n"
				   "Content-Length: 2\r\n\r\n{";
	struct stage stage;
	struct caller crowd[CROWD];
	int64_t began = clock_ms();
	int late, good = 0;

	(void)state;
	stage_init(&stage);
	stage.options.max_in_flight = 2;
	stage_start(&stage);
	for (int i = 0; i < CROWD; i++) {
		caller_open(&crowd[i], &stage);
		assert_true(caller_send(&crowd[i], head, sizeof(head) - 1));
	}
	for (int i = 0; i < 100 && server_in_flight(stage.server) < CROWD; i++)
		pause_ms(10);
	late = stage_ask(&stage, "{}");
	/* Unless we were slow ourselves. */
	if (clock_ms() - began < 200)
		assert_int_equal(late, 429);
	pause_ms(800);
	assert_int_equal(server_in_flight(stage.server), CROWD);
	for (int i = 0; i < 5; i++)
		assert_int_equal(stage_ask(&stage, "{}"), 200);
	/* Those that were not refused at once are answered nevertheless. */
	for (int i = 0; i < CROWD; i++) {
		assert_true(caller_send(&crowd[i], "}", 1));
		late = caller_status(&crowd[i]);
		assert_true(late == 200 || late == 429);
		good += late == 200;
		caller_close(&crowd[i]);
	}
	assert_true(good >= 2);
	for (int i = 0; i < 100 && server_in_flight(stage.server); i++)
		pause_ms(10);
	/* And the count is right after it: two are in work, a third not. */
	began = clock_ms();
	for (int i = 0; i < 2; i++) {
		caller_open(&crowd[i], &stage);
		assert_true(caller_send(&crowd[i], head, sizeof(head) - 1));
	}
	for (int i = 0; i < 100 && server_in_flight(stage.server) < 2; i++)
		pause_ms(10);
	late = stage_ask(&stage, "{}");
	if (clock_ms() - began < 200)
		assert_int_equal(late, 429);
	for (int i = 0; i < 2; i++)
		caller_close(&crowd[i]);
	stage_end(&stage);
}

static void idle_connections_live(void **state)
{
	struct caller fresh, used;

	caller_open(&fresh, *state);
	caller_open(&used, *state);
	assert_true(caller_post(&used, "{}", 2));
	assert_int_equal(caller_status(&used), 200);
	pause_ms(2500);
	assert_true(caller_post(&fresh, "{}", 2));
	assert_int_equal(caller_status(&fresh), 200);
	assert_true(caller_post(&used, "{}", 2));
	assert_int_equal(caller_status(&used), 200);
	caller_close(&fresh);
	caller_close(&used);
}

static void idle_connections_end_in_time(void **state)
{
	struct stage stage;
	struct caller caller;

	(void)state;
	stage_init(&stage);
	stage.options.idle_seconds = 1;
	stage_start(&stage);
	caller_open(&caller, &stage);
	assert_true(caller_post(&caller, "{}", 2));
	assert_int_equal(caller_status(&caller), 200);
	assert_true(caller_ends(&caller, LATE_MS));
	caller_close(&caller);
	stage_end(&stage);
}

/* Clients that only take places give way to one that asks. */
static void idle_clients_give_way_when_full(void **state)
{
	enum { MAX = 40 };
	struct stage stage;
	struct caller good, idle[MAX];
	int raw[MAX];

	(void)state;
	stage_init(&stage);
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
}

static int64_t cpu_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Handshakes that begin and wait take no processor and hold nobody up. */
static void stalled_handshakes_hold_nobody_up(void **state)
{
	enum { STALLED = 20, MS = 500, ASKS = 20 };
	int fds[STALLED];
	int64_t cpu, began;

	for (int i = 0; i < STALLED; i++) {
		fds[i] = dial(server_port(((struct stage *)*state)->server));
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
		assert_int_equal(stage_ask(*state, "{}"), 200);
	/* 20 ms each, should an answer wait for what never comes. */
	print_message("  %d requests in %d ms\n", ASKS,
		      (int)(clock_ms() - began));
	for (int i = 0; i < STALLED; i++)
		close(fds[i]);
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
		cmocka_unit_test(idle_connections_live),
		cmocka_unit_test(idle_connections_end_in_time),
		cmocka_unit_test(idle_clients_give_way_when_full),
		cmocka_unit_test(stalled_handshakes_hold_nobody_up),
	};

	return cmocka_run_group_tests_name("server_slow", tests, set_up,
					   tear_down);
}
