/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Subprocesses: their exit status, the deadline, and signals to the program
 * that runs them.
 */
#include "lint/files/subprocess.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

struct ran {
	struct buf out, errors;
	struct err err;
	int rc;
};

static void run(struct ran *ran, const char *script,
		const struct program_limits *limits)
{
	const char *argv[] = {"sh", "-c", script, NULL};

	memset(ran, 0, sizeof(*ran));
	buf_init(&ran->out);
	buf_init(&ran->errors);
	ran->rc = program_run(argv, limits, &ran->out, &ran->errors, &ran->err);
}

static void release(struct ran *ran)
{
	buf_release(&ran->out);
	buf_release(&ran->errors);
}

static void the_exit_status_is_returned(void **state)
{
	static const struct program_limits limits[] = {{0}, {.seconds = 600}};
	static const struct {
		const char *script, *out, *errors, *err;
		int rc;
	} rows[] = {
		{"echo a; echo b >&2", "a\n", "b\n", "", 0},
		{"exit 3", "", "", "", 3},
		{"exec >&- 2>&-; kill -KILL $$", "", "",
		 "sh: killed by signal 9", -1},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		for (size_t l = 0; l < 2; l++) {
			struct ran ran;

			run(&ran, rows[i].script, &limits[l]);
			assert_int_equal(ran.rc, rows[i].rc);
			assert_string_equal(ran.out.data, rows[i].out);
			assert_string_equal(ran.errors.data, rows[i].errors);
			assert_string_equal(ran.err.text, rows[i].err);
			release(&ran);
		}
}

/* Kills the program, and the programs that it started, at the deadline,
 * whatever it does with its streams. */
static void the_deadline_is_kept(void **state)
{
	static const struct program_limits limits = {.seconds = 1};
	static const char *const scripts[] = {
		"exec sleep 1000",
		"exec >&- 2>&-; exec sleep 1000",
		"sleep 1000 & exit",
	};

	for (size_t i = 0; i < sizeof(scripts) / sizeof(*scripts); i++) {
		struct ran ran;

		run(&ran, scripts[i], &limits);
		assert_int_equal(ran.rc, -1);
		assert_string_equal(ran.err.text,
				    "sh: stopped: it takes too long");
		release(&ran);
	}
}

/* Runs the script, which sends a signal to its parent, from a separate process,
 * and returns the status of that process. The handler is set there, because the
 * test's environment may ignore the signal. */
static int guarded(int number, void (*handler)(int), const char *script)
{
	static const struct program_limits limits = {.seconds = 600};
	bool ends = handler == SIG_DFL;
	pid_t pid = fork();
	int status = 0;
	struct ran ran;

	if (!pid) {
		signal(number, handler);
		program_guard_begin();
		run(&ran, script, &limits);
		if (ends && strcmp(ran.err.text, "sh: stopped: interrupted"))
			_exit(1);
		release(&ran);
		run(&ran, "exit 5", &limits);
		if (ends && strcmp(ran.err.text, "sh: interrupted"))
			_exit(2);
		program_guard_end();
		_exit(3);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void a_signal_ends_programs_first(void **state)
{
	static const struct {
		int number;
		const char *script;
	} rows[] = {
		{SIGINT, "kill -INT $PPID; exec sleep 1000"},
		{SIGTERM, "kill -TERM $PPID; exec sleep 1000"},
		{SIGHUP, "exec >&- 2>&-; kill -HUP $PPID; exec sleep 1000"},
	};
	int status;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		status = guarded(rows[i].number, SIG_DFL, rows[i].script);
		assert_true(WIFSIGNALED(status));
		assert_int_equal(WTERMSIG(status), rows[i].number);
	}
	/* Signals are ignored, as under nohup. */
	status = guarded(SIGHUP, SIG_IGN, "kill -HUP $PPID");
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_exit_status_is_returned),
		cmocka_unit_test(the_deadline_is_kept),
		cmocka_unit_test(a_signal_ends_programs_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
