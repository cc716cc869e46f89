/* SPDX-License-Identifier: Apache-2.0 */
/* Probes and metrics over plain HTTP, and clients that try to block others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "server_fixture.h"

struct booth {
	struct stage stage;
	struct probe *probe;
	const char *reason;
	unsigned char from; /* sent from 127.0.0.x */
};

static const char *not_ready(void *context)
{
	const struct booth *booth = context;

	return __atomic_load_n(&booth->reason, __ATOMIC_SEQ_CST);
}

static int set_up(void **state)
{
	static struct booth booth;
	struct probe_options options = {.listen = "127.0.0.1:0",
					.not_ready = not_ready,
					.context = &booth};
	struct err err = {0};

	stage_init(&booth.stage);
	options.metrics = booth.stage.metrics;
	booth.from = 1;
	booth.probe = probe_start(&options, &err);
	*state = &booth;
	return booth.probe ? 0 : -1;
}

static int tear_down(void **state)
{
	struct booth *booth = *state;

	probe_stop(booth->probe);
	stage_end(&booth->stage);
	return 0;
}

/* Returns the whole response, until the connection ends. */
static char *ask(const struct booth *booth, const char *request)
{
	char *answer = calloc(1, 1 << 20);
	size_t len = 0;
	int fd = dial_from(probe_port(booth->probe), booth->from);
	ssize_t n;

	assert_int_equal(send(fd, request, strlen(request), MSG_NOSIGNAL),
			 strlen(request));
	while ((n = recv(fd, answer + len, (1 << 20) - 1 - len, 0)) > 0)
		len += (size_t)n;
	close(fd);
	return answer;
}

static void assert_answer(const struct booth *booth, const char *request,
			  int status, const char *text)
{
	char *answer = ask(booth, request);
	int got = 0;

	sscanf(answer, "HTTP/1.%*d %d", &got);
	if (got != status || !strstr(answer, text))
		fail_msg("%s: want %d and '%s', got\n%s", request, status, text,
			 answer);
	free(answer);
}

/* Expects status 400, or, since libmicrohttpd 1.0, an end without a
 * response. */
static void assert_refused(const struct booth *booth, const char *request)
{
	char *answer = ask(booth, request);

	assert_true(!*answer || !strncmp(answer, "HTTP/1.1 400 ", 13));
	free(answer);
}

#define GET(path) "GET " path " HTTP/1.1\r\nHost: a\r\n\r\n"

static void probes_have_their_pages(void **state)
{
	struct booth *booth = *state;

	booth->reason = NULL;
	assert_answer(booth, GET("/healthz"), 200, "\r\n\r\nok\n");
	assert_answer(booth, GET("/livez"), 200, "\r\n\r\nok\n");
	assert_answer(booth, GET("/readyz"), 200, "\r\n\r\nok\n");
	assert_answer(booth, GET("/readyz?verbose"), 200, "\r\n\r\nok\n");
	assert_answer(booth, GET("/metrics"), 200, "\ngpugate_in_flight 0\n");
	assert_answer(booth, GET("/metrics"), 200, "version=0.0.4");
	assert_answer(booth, "HEAD /healthz HTTP/1.1\r\nHost: a\r\n\r\n", 200,
		      "Content-Length: 3");
	assert_answer(booth, GET("/"), 404, "/metrics");
	assert_answer(booth, GET("/mutate"), 404, "/metrics");
	assert_answer(booth,
		      "POST /healthz HTTP/1.1\r\nHost: a\r\n"
		      "Content-Length: 2\r\n\r\n{}",
		      405, "Allow: GET, HEAD");
	assert_refused(booth, "no HTTP/9.9\r\n\r\n");
}

static void the_reason_of_not_ready_is_shown(void **state)
{
	struct booth *booth = *state;

	booth->reason = "no policy is loaded";
	assert_answer(booth, GET("/readyz"), 503, "no policy is loaded\n");
	assert_answer(booth, GET("/metrics"), 200, "\ngpugate_ready 0\n");
	assert_answer(booth, GET("/healthz"), 200, "ok");
	assert_answer(booth, GET("/livez"), 200, "ok");
	booth->reason = NULL;
	assert_answer(booth, GET("/readyz"), 200, "ok");
	assert_answer(booth, GET("/metrics"), 200, "\ngpugate_ready 1\n");
}

/* One address cannot take all places: another one is served at once. */
static void one_address_may_not_hold_all_places(void **state)
{
	enum { CROWD = 300 };
	struct booth *booth = *state;
	int fds[CROWD];
	int64_t began;

	for (int i = 0; i < CROWD; i++) {
		fds[i] = dial(probe_port(booth->probe));
		if (i % 2)
			send(fds[i], "GET /", 5, MSG_NOSIGNAL);
	}
	began = clock_ms();
	booth->from = 2;
	for (int i = 0; i < 40; i++)
		assert_answer(booth, GET("/healthz"), 200, "\r\n\r\nok\n");
	booth->from = 1;
	assert_true(clock_ms() - began < 3000);
	for (int i = 0; i < CROWD; i++)
		close(fds[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(probes_have_their_pages),
		cmocka_unit_test(the_reason_of_not_ready_is_shown),
		cmocka_unit_test(one_address_may_not_hold_all_places),
	};

	return cmocka_run_group_tests_name("server_probe", tests, set_up,
					   tear_down);
}
