/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs programs. Both output streams are pipes that are read at the same time,
 * so that neither blocks the other. The program leads a process group, which is
 * killed as a whole. The time limit applies even if the program writes nothing,
 * or continues after closing its streams. Because any thread may receive a
 * signal, all of them poll a pipe to which the handler writes.
 */
#include "subprocess.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/path.h"
#include "lint/term/log.h"

extern char **environ;

enum {
	PIECE = 64 * 1024,
	ERRORS_MAX = 1024 * 1024,
	PAUSE_MAX = 64, /* in milliseconds */
};

/* --- signals -------------------------------------------------------------- */

static const int guarded[] = {SIGHUP, SIGINT, SIGTERM};
enum { GUARDED = ARRAY_SIZE(guarded) };
static struct sigaction before[GUARDED];
static int wake[2] = {-1, -1};
static atomic_int caught;

static void catch_signal(int number)
{
	int error = errno;

	atomic_store(&caught, number);
	(void)!write(wake[1], "", 1);
	errno = error;
}

void program_guard_begin(void)
{
	const struct sigaction ours = {.sa_handler = catch_signal};

	if (pipe2(wake, O_CLOEXEC | O_NONBLOCK))
		wake[0] = wake[1] = -1;
	for (int i = 0; i < GUARDED; i++) {
		sigaction(guarded[i], NULL, &before[i]);
		if (before[i].sa_handler == SIG_DFL)
			sigaction(guarded[i], &ours, NULL);
	}
}

void program_guard_end(void)
{
	for (int i = 0; i < GUARDED; i++)
		sigaction(guarded[i], &before[i], NULL);
	for (int i = 0; i < 2 && wake[i] >= 0; i++)
		close(wake[i]);
	wake[0] = wake[1] = -1;
	if (atomic_load(&caught))
		raise(atomic_load(&caught));
}

/* --- one program ---------------------------------------------------------- */

struct stream {
	int ends[2]; /* [0] is this process's end */
	struct buf *out;
	size_t most; /* limit in bytes; further bytes are read and dropped */
};

static int spawn(const char *const *argv, const struct program_limits *limits,
		 const struct stream streams[2], pid_t *pid)
{
	char *const *environment =
		limits->environment ? limits->environment : environ;
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int error;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null",
					 O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, streams[0].ends[1],
					 STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, streams[1].ends[1],
					 STDERR_FILENO);
	posix_spawnattr_init(&attributes);
	if (limits->seconds)
		posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
	error = posix_spawnp(pid, argv[0], &actions, &attributes,
			     (char *const *)(uintptr_t)argv, environment);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return error;
}

/* Reads from a stream. Returns false if it exceeds a limit that is enforced. */
static bool read_piece(struct stream *stream, struct pollfd *waiting)
{
	char piece[PIECE];
	ssize_t n = read(stream->ends[0], piece, sizeof(piece));
	size_t room = stream->most - stream->out->len;

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return true;
	if (n <= 0) {
		waiting->fd = -1;
		return true;
	}
	buf_add(stream->out, piece, (size_t)n < room ? (size_t)n : room);
	return (size_t)n <= room;
}

/* Sets *left to the milliseconds until `end`, or to -1 if end is 0 (no limit).
 * Returns NULL, or the reason why no time is left. */
static const char *time_left(int64_t end, int *left)
{
	int64_t n = end ? end - progress_clock() : -1;

	*left = (int)n;
	if (atomic_load(&caught))
		return "interrupted";
	return end && n <= 0 ? "it takes too long" : NULL;
}

/* Reads until both streams end. Returns NULL, or the limit that was
 * exceeded. */
static const char *read_streams(struct stream streams[2], int64_t end)
{
	struct pollfd waiting[3] = {{streams[0].ends[0], POLLIN, 0},
				    {streams[1].ends[0], POLLIN, 0},
				    {wake[0], POLLIN, 0}};
	const char *passed;
	int left;

	while (waiting[0].fd >= 0 || waiting[1].fd >= 0) {
		passed = time_left(end, &left);
		if (passed)
			return passed;
		if (poll(waiting, 3, left) < 0) {
			if (errno != EINTR)
				return strerror(errno);
			continue;
		}
		for (int i = 0; i < 2; i++)
			if (waiting[i].fd >= 0 && waiting[i].revents &&
			    !read_piece(&streams[i], &waiting[i]) && !i)
				return "its output is too large";
	}
	return NULL;
}

/* Waits until the program ends, which may be later than the end of its
 * streams. */
static const char *await(pid_t pid, int64_t end, int *status)
{
	struct pollfd waiting = {wake[0], POLLIN, 0};
	const char *passed = NULL;
	int pause = 1, left;
	pid_t ended;

	while (!(ended = waitpid(pid, status, end ? WNOHANG : 0)) ||
	       (ended < 0 && errno == EINTR)) {
		passed = time_left(end, &left);
		if (passed)
			return passed;
		if (end)
			poll(&waiting, 1, pause < left ? pause : left);
		pause = pause < PAUSE_MAX ? 2 * pause : PAUSE_MAX;
	}
	return ended < 0 ? strerror(errno) : NULL;
}

static int finish(const char *name, struct stream streams[2], pid_t pid,
		  const struct program_limits *limits, struct err *err)
{
	int64_t end =
		limits->seconds ? progress_clock() + limits->seconds * 1000 : 0;
	const char *passed = read_streams(streams, end);
	int status = 0;

	if (!passed)
		passed = await(pid, end, &status);
	if (passed) {
		kill(limits->seconds ? -pid : pid, SIGKILL);
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			continue;
		return err_set(err, 0, "%s: stopped: %s", name, passed);
	}
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	return err_set(err, 0, "%s: killed by signal %d", name,
		       WTERMSIG(status));
}

static int open_streams(struct stream streams[2], struct err *err)
{
	if (pipe2(streams[0].ends, O_CLOEXEC))
		return err_set(err, errno, "pipe: %s", strerror(errno));
	if (!pipe2(streams[1].ends, O_CLOEXEC))
		return 0;
	err_set(err, errno, "pipe: %s", strerror(errno));
	close(streams[0].ends[0]);
	close(streams[0].ends[1]);
	return -1;
}

int program_run(const char *const *argv, const struct program_limits *limits,
		struct buf *out, struct buf *errors, struct err *err)
{
	static const struct program_limits none;
	const struct program_limits *most = limits ? limits : &none;
	struct stream streams[2] = {
		{.out = out,
		 .most = most->output ? out->len + most->output : SIZE_MAX},
		{.out = errors, .most = errors->len + ERRORS_MAX}};
	int error, rc = -1;
	pid_t pid = 0;

	if (atomic_load(&caught))
		return err_set(err, EINTR, "%s: interrupted", argv[0]);
	if (open_streams(streams, err))
		return -1;
	error = spawn(argv, most, streams, &pid);
	close(streams[0].ends[1]);
	close(streams[1].ends[1]);
	if (error)
		err_set(err, error, "%s cannot be run: %s", argv[0],
			strerror(error));
	else
		rc = finish(argv[0], streams, pid, most, err);
	close(streams[0].ends[0]);
	close(streams[1].ends[0]);
	return rc;
}

bool program_find(const char *name, struct buf *path)
{
	const char *at = getenv("PATH");
	struct buf folder;
	bool found = false;

	buf_init(&folder);
	while (at && *at && !found) {
		size_t len = strcspn(at, ":");

		buf_reset(&folder);
		buf_reset(path);
		buf_add(&folder, at, len);
		path_join(folder.data, name, path);
		found = len && !access(path->data, X_OK);
		at += len + (at[len] == ':');
	}
	buf_release(&folder);
	return found;
}
