/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sandbox: the calls that it rejects, in each thread, and those that it
 * allows, the limit of logged rejections, dropped privileges, the end after a
 * bug, and a SIGSYS from outside. Every case is a separate process, because the
 * sandbox cannot be removed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "webhook/observe/log.h"
#include "webhook/observe/process.h"
#include "webhook/serve.h"

/* --- calls: 0 when done, else errno --------------------------------------- */

static int result(long rc)
{
	return rc < 0 ? errno : 0;
}

static int run_program(void)
{
	char name[] = "/bin/true";
	char *argv[] = {name, NULL}, *none[] = {NULL};

	return result(execve(name, argv, none));
}

/* The name of a file of this run; another run may create a file at the same
 * time. */
static char made[64];

static int write_file(void)
{
	return result(open(made, O_WRONLY | O_CREAT, 0600));
}

static int write_device(void)
{
	return result(open("/dev/null", O_RDWR));
}

static int truncate_file(void)
{
	return result(open("/dev/null", O_RDONLY | O_TRUNC));
}

static int nameless_file(void)
{
	return result(open("/tmp", O_TMPFILE | O_RDWR, 0600));
}

static int remove_file(void)
{
	return result(unlink("/tmp/gpugate-there-is-none"));
}

static int new_socket(void)
{
	return result(socket(AF_INET, SOCK_STREAM, 0));
}

static int new_process(void)
{
	return result(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
}

static int executable_memory(void)
{
	return mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED
		       ? errno
		       : 0;
}

static int make_executable(void)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return page == MAP_FAILED
		       ? ENOMEM
		       : result(mprotect(page, 4096, PROT_READ | PROT_EXEC));
}

static int raise_limit(void)
{
	struct rlimit limit = {1, 1};

	return result(setrlimit(RLIMIT_NPROC, &limit));
}

static int kill_parent(void)
{
	return result(kill(getppid(), 0));
}

static int become_dumpable(void)
{
	return result(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0));
}

static int trace(void)
{
	enum { NO_SUCH_PROCESS = 0x3fffffff };

	/* PTRACE_ATTACH; ESRCH without the sandbox. */
	return result(syscall(SYS_ptrace, 16, NO_SUCH_PROCESS, 0, 0));
}

static int open_by_the_new_call(void)
{
	uint64_t how[3] = {O_WRONLY, 0, 0};

	return result(syscall(437, AT_FDCWD, "/dev/null", how, sizeof(how)));
}

static int read_file(void)
{
	char byte;
	int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);

	return fd < 0 || read(fd, &byte, 1) != 1 ? errno : 0;
}

static int read_folder(void)
{
	struct process_figures figures;

	process_read(&figures);
	return figures.open_fds > 0 && figures.max_fds > 0 &&
			       figures.resident_bytes > 0
		       ? 0
		       : EINVAL;
}

static int allocate(void)
{
	for (size_t size = 16; size < 64 << 20; size *= 3) {
		char *bytes = malloc(size);

		if (!bytes)
			return ENOMEM;
		memset(bytes, 1, size);
		free(bytes);
	}
	return 0;
}

static int name_thread(void)
{
	return result(prctl(PR_SET_NAME, "renamed", 0, 0, 0));
}

static int sleep_a_bit(void)
{
	struct timespec ts = {.tv_nsec = 1000};

	return result(nanosleep(&ts, NULL));
}

static const struct {
	const char *name;
	int (*run)(void);
	int wanted;
} outcomes[] = {
	{"execve", run_program, EPERM},
	{"write a file", write_file, EPERM},
	{"write a device", write_device, EPERM},
	{"truncate", truncate_file, EPERM},
	{"a nameless file", nameless_file, EPERM},
	{"unlink", remove_file, EPERM},
	{"socket", new_socket, EPERM},
	{"clone", new_process, EPERM},
	{"mmap to execute", executable_memory, EPERM},
	{"mprotect to execute", make_executable, EPERM},
	{"setrlimit", raise_limit, EPERM},
	{"kill", kill_parent, EPERM},
	{"become dumpable", become_dumpable, EPERM},
	{"ptrace", trace, EPERM},
	{"openat2", open_by_the_new_call, EPERM},
	{"read a file", read_file, 0},
	{"read a folder, own figures", read_folder, 0},
	{"allocate", allocate, 0},
	{"name a thread", name_thread, 0},
	{"sleep", sleep_a_bit, 0},
};
enum { CALLS = sizeof(outcomes) / sizeof(*outcomes) };

/* --- processes ------------------------------------------------------------ */

static pthread_barrier_t entered;

static void *do_outcome(void *context)
{
	const size_t *i = context;

	pthread_barrier_wait(&entered);
	return (void *)(intptr_t)outcomes[*i].run();
}

/* Makes the call in the sandbox, in a thread that existed before it; exits with
 * errno. */
static void child(size_t i, bool in_thread, int log_fd)
{
	struct err err = {0};
	pthread_t thread;
	void *got = NULL;

	if (sandbox_prepare(&err))
		_exit(201);
	pthread_barrier_init(&entered, NULL, 2);
	if (in_thread && pthread_create(&thread, NULL, do_outcome, &i))
		_exit(202);
	if (sandbox_enter(log_fd, true, false, &err)) {
		fprintf(stderr, "%s\n", err.text);
		_exit(203);
	}
	if (!in_thread)
		_exit(outcomes[i].run());
	pthread_barrier_wait(&entered);
	pthread_join(thread, &got);
	_exit((int)(intptr_t)got);
}

static int status_of(size_t i, bool in_thread, int log_fd)
{
	pid_t pid = fork();
	int status;

	if (!pid)
		child(i, in_thread, log_fd);
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void skip_aloud(void)
{
	print_message("skip: a build with sanitizers has no sandbox\n");
	skip();
}

/* --- tests ---------------------------------------------------------------- */

static void calls_are_permitted_or_rejected(void **state)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	(void)state;
	if (!sandbox_available())
		skip_aloud();
	for (size_t i = 0; i < CALLS; i++)
		for (int thread = 0; thread < 2; thread++) {
			int got = status_of(i, thread, null);

			if (got != outcomes[i].wanted)
				fail_msg("%s: %d, not %d", outcomes[i].name,
					 got, outcomes[i].wanted);
		}
	close(null);
}

/* Without the sandbox each call has a different result. */
static void without_the_sandbox_no_call_is_rejected(void **state)
{
	(void)state;
	for (size_t i = 1; i < CALLS; i++) {
		pid_t pid = fork();
		int status;

		if (!pid)
			_exit(outcomes[i].run());
		waitpid(pid, &status, 0);
		if (!WIFEXITED(status) || WEXITSTATUS(status) == EPERM)
			fail_msg("%s is refused anyway", outcomes[i].name);
	}
	unlink(made);
}

static void ask_often(int log_fd)
{
	struct err err = {0};

	if (sandbox_enter(log_fd, true, false, &err))
		_exit(1);
	for (int i = 0; i < 100; i++)
		if (new_socket() != EPERM)
			_exit(2);
	_exit(0);
}

static void rejections_are_logged_a_few_times(void **state)
{
	char bytes[65536], *at = bytes;
	int ends[2], status, lines = 0;
	ssize_t n;
	pid_t pid;

	(void)state;
	if (!sandbox_available())
		skip_aloud();
	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (!pid)
		ask_often(ends[1]);
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
	close(ends[1]);
	n = read(ends[0], bytes, sizeof(bytes) - 1);
	assert_true(n > 0);
	bytes[n] = '\0';
	close(ends[0]);
	for (char *line; (line = strsep(&at, "\n")) && *line; lines++) {
		json_t *root = json_loads(line, 0, NULL);

		assert_non_null(root);
		assert_string_equal(
			json_string_value(json_object_get(root, "call")),
			"socket");
		json_decref(root);
	}
	assert_int_equal(lines, 20);
}

static void privileges_are_dropped_before(void **state)
{
	pid_t pid = fork();
	int status;

	(void)state;
	if (!pid) {
		struct rlimit limit;

		/* Does not call setgid(), which ends the process if it fails in
		 * only one thread (the thread sanitizer has its own
		 * setgid()). */
		_exit(sandbox_prepare(NULL) || getrlimit(RLIMIT_CORE, &limit) ||
		      limit.rlim_max ||
		      prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1 ||
		      prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) != 0 ||
		      syscall(SYS_setgid, 54321) == 0);
	}
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
}

/* -- signals and the end ----------------------------------------------------
 */

static int output_of(void (*run)(int log_fd), char *out, size_t size)
{
	int ends[2], status;
	ssize_t n;
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (!pid)
		run(ends[1]);
	close(ends[1]);
	waitpid(pid, &status, 0);
	n = read(ends[0], out, size - 1);
	assert_true(n >= 0);
	out[n] = '\0';
	close(ends[0]);
	return status;
}

static void meet_a_bug(int log_fd)
{
	struct err err = {0};

	if (sandbox_enter(log_fd, true, false, &err))
		_exit(1);
	log_bugs(log_fd, true);
	BUG("%d of \"them\"", 7);
}

static void a_bug_is_a_line_and_a_status(void **state)
{
	char bytes[4096];
	json_t *line;
	int status;

	(void)state;
	if (!sandbox_available())
		skip_aloud();
	status = output_of(meet_a_bug, bytes, sizeof(bytes));
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 70);
	/* Everything that was written is one object. */
	line = json_loads(bytes, 0, NULL);
	assert_non_null(line);
	assert_string_equal(json_string_value(json_object_get(line, "reason")),
			    "7 of \"them\"");
	assert_string_equal(json_string_value(json_object_get(line, "file")),
			    __FILE__);
	json_decref(line);
}

/* Sends SIGSYS from a process outside of the filter. */
static void be_sent_signals(int log_fd)
{
	pid_t target = getpid();
	struct err err = {0};
	int go[2], done[2];
	char byte;

	if (pipe(go) || pipe(done))
		_exit(1);
	if (!fork()) {
		if (read(go[0], &byte, 1) == 1)
			for (int i = 0; i < 100; i++)
				kill(target, SIGSYS);
		_exit(write(done[1], "x", 1) != 1);
	}
	if (sandbox_enter(log_fd, true, false, &err) ||
	    write(go[1], "x", 1) != 1)
		_exit(2);
	while (read(done[0], &byte, 1) != 1)
		;
	_exit(0);
}

static void a_sigsys_from_outside_is_ignored(void **state)
{
	char bytes[4096];

	(void)state;
	if (!sandbox_available())
		skip_aloud();
	assert_int_equal(output_of(be_sent_signals, bytes, sizeof(bytes)), 0);
	assert_string_equal(bytes, "");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_are_permitted_or_rejected),
		cmocka_unit_test(without_the_sandbox_no_call_is_rejected),
		cmocka_unit_test(rejections_are_logged_a_few_times),
		cmocka_unit_test(privileges_are_dropped_before),
		cmocka_unit_test(a_bug_is_a_line_and_a_status),
		cmocka_unit_test(a_sigsys_from_outside_is_ignored),
	};

	snprintf(made, sizeof(made), "/tmp/gpugate-sandbox-%d", (int)getpid());
	return cmocka_run_group_tests(tests, NULL, NULL);
}
