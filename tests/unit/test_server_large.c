/* SPDX-License-Identifier: Apache-2.0 */
/* Large reviews: ordinary reviews do not wait for them, and they wait for
 * memory and for each other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/array.h"
#include "server_fixture.h"

enum { LEN = 100000 };

/* Posts a large review whose check takes this long. */
static void post_large(struct caller *caller, const struct stage *stage, int ms)
{
	char *body = malloc(LEN);

	memset(body, ' ', LEN);
	snprintf(body, LEN, "sleep %d ", ms);
	caller_open(caller, stage);
	assert_true(caller_post(caller, body, LEN));
	free(body);
}

static void wait_in_flight(const struct stage *stage, unsigned n)
{
	for (int i = 0; i < 500; i++) {
		if (server_in_flight(stage->server) == n)
			return;
		pause_ms(10);
	}
	fail_msg("in flight: %u", server_in_flight(stage->server));
}

static void begin(struct stage *stage, unsigned threads)
{
	stage_init(stage);
	stage->options.threads = threads;
	stage_start(stage);
}

static void others_do_not_wait_for_a_large_review(void **state)
{
	struct stage stage;
	struct caller large[2];

	(void)state;
	begin(&stage, 1);
	for (int i = 0; i < 2; i++)
		post_large(&large[i], &stage, 900);
	wait_in_flight(&stage, 2);
	for (int i = 0; i < 5; i++)
		assert_int_equal(stage_ask(&stage, "{}"), 200);
	assert_true(server_in_flight(stage.server) >= 1);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(caller_status(&large[i]), 200);
		/* The connection stays open. */
		assert_true(caller_post(&large[i], "{}", 2));
		assert_int_equal(caller_status(&large[i]), 200);
		caller_close(&large[i]);
	}
	stage_end(&stage);
}

static void a_review_that_waited_too_long_gets_429(void **state)
{
	static const int statuses[] = {200, 200, 429};
	struct stage stage;
	struct caller large[3];

	(void)state;
	begin(&stage, 1);
	for (unsigned i = 0; i < 3; i++) {
		post_large(&large[i], &stage, 1300);
		wait_in_flight(&stage, i + 1);
		pause_ms(50);
	}
	for (int i = 0; i < 3; i++) {
		assert_int_equal(caller_status(&large[i]), statuses[i]);
		caller_close(&large[i]);
	}
	assert_true(stage_figure(&stage, "gpugate_overload_total") == 1);
	stage_end(&stage);
}

/* The memory is enough for the checks of two large reviews at a time. */
static void reviews_wait_for_memory(void **state)
{
	enum { N = 4 };
	struct stage stage;
	struct caller large[N];

	(void)state;
	stage_init(&stage);
	stage.options.threads = N;
	stage.options.max_memory = 0;
	stage_start(&stage);
	for (int i = 0; i < N; i++)
		post_large(&large[i], &stage, 300);
	for (int i = 0; i < N; i++) {
		assert_int_equal(caller_status(&large[i]), 200);
		caller_close(&large[i]);
	}
	assert_true(stage_figure(&stage, "gpugate_memory_refused_total") == 0);
	stage_end(&stage);
}

static void a_client_may_go_while_its_review_waits(void **state)
{
	struct stage stage;
	struct caller large[4];

	(void)state;
	begin(&stage, 1);
	for (int i = 0; i < 4; i++)
		post_large(&large[i], &stage, 200);
	wait_in_flight(&stage, 4);
	for (int i = 0; i < 4; i++)
		caller_close(&large[i]);
	wait_in_flight(&stage, 0);
	for (int i = 0; i < 200 && server_connections(stage.server); i++)
		pause_ms(10);
	assert_int_equal(server_connections(stage.server), 0);
	assert_int_equal(stage_ask(&stage, "{}"), 200);
	stage_end(&stage);
}

static void a_server_may_stop_while_reviews_wait(void **state)
{
	struct stage stage;
	struct caller large[4];

	(void)state;
	begin(&stage, 2);
	for (int i = 0; i < 4; i++)
		post_large(&large[i], &stage, 300);
	wait_in_flight(&stage, 4);
	stage_end(&stage);
	for (int i = 0; i < 4; i++)
		caller_close(&large[i]);
}

/* A review that is too long is answered from its first bytes, if these identify
 * it; else with 413. */
static void a_long_review_is_answered_from_its_start(void **state)
{
	enum { TOO_LONG = 20 << 20 }; /* the limit is 1 MiB */
	char *body = malloc(TOO_LONG);
	struct stage stage;
	struct caller caller;

	(void)state;
	begin(&stage, 1);
	memset(body, ' ', TOO_LONG);
	memcpy(body, "long", 4);
	caller_open(&caller, &stage);
	assert_true(caller_post(&caller, body, TOO_LONG));
	assert_int_equal(caller_status(&caller), 200);
	assert_string_equal(stub_problem,
			    "the review is longer than --max-body");
	memcpy(body, "loud", 4);
	assert_true(caller_post(&caller, body, TOO_LONG));
	assert_int_equal(caller_status(&caller), 413);
	caller_close(&caller);
	stage_end(&stage);
	free(body);
}

/* A review that uses too much processor time gets a response from its start. */
static void a_costly_review_is_answered_from_its_start(void **state)
{
	static char body[200 << 10];
	static const size_t lengths[] = {4, sizeof(body)};
	struct stage stage;
	struct caller caller;

	(void)state;
	begin(&stage, 1);
	memset(body, ' ', sizeof(body));
	memcpy(body, "work", 4);
	caller_open(&caller, &stage);
	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		assert_true(caller_post(&caller, body, lengths[i]));
		assert_int_equal(caller_status(&caller), 201);
		assert_string_equal(
			stub_problem,
			"checking it takes too much time or memory");
	}
	caller_close(&caller);
	stage_end(&stage);
}

/* The first bytes of a costly review are checked in the time that it left. */
static void the_start_gets_only_the_remaining_time(void **state)
{
	struct stage stage;
	struct caller caller;

	(void)state;
	begin(&stage, 1);
	caller_open(&caller, &stage);
	assert_true(caller_post(&caller, "work slowly", 11));
	assert_int_equal(caller_status(&caller), 429);
	assert_true(stub_given > 0 && stub_given <= 200);
	caller_close(&caller);
	stage_end(&stage);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_start_gets_only_the_remaining_time),
		cmocka_unit_test(others_do_not_wait_for_a_large_review),
		cmocka_unit_test(a_review_that_waited_too_long_gets_429),
		cmocka_unit_test(a_long_review_is_answered_from_its_start),
		cmocka_unit_test(a_costly_review_is_answered_from_its_start),
		cmocka_unit_test(reviews_wait_for_memory),
		cmocka_unit_test(a_client_may_go_while_its_review_waits),
		cmocka_unit_test(a_server_may_stop_while_reviews_wait),
	};

	return cmocka_run_group_tests_name("server_large", tests, NULL, NULL);
}
