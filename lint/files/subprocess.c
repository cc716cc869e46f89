/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Both streams come through pipes that are read as they fill, so that neither
 * waits for the other. The program leads a process group, which is killed as
 * one.
 */
#include "subprocess.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/path.h"

extern char **environ;

enum { PIECE = 64 * 1024, ERRORS_MAX = 1024 * 1024 };

struct stream {
	int ends[2]; /* [0] is ours */
	struct buf *out;
	size_t most; /* what comes after it is read and dropped */
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

static int wait_for(pid_t pid, const char *name, struct err *err)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return err_set(err, errno, "%s: %s", name,
				       strerror(errno));
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	return err_set(err, 0, "%s: killed by signal %d", name,
		       WTERMSIG(status));
}

/* false: the limit of a stream whose limit counts is passed. */
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

static int64_t milliseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Until both streams end. NULL, or which limit was passed. */
static const char *read_streams(struct stream streams[2], unsigned seconds)
{
	int64_t end = milliseconds() + (int64_t)seconds * 1000;
	struct pollfd waiting[2] = {{streams[0].ends[0], POLLIN, 0},
				    {streams[1].ends[0], POLLIN, 0}};

	while (waiting[0].fd >= 0 || waiting[1].fd >= 0) {
		int64_t left = end - milliseconds();

		if (seconds && left <= 0)
			return "it takes too long";
		if (poll(waiting, 2, seconds ? (int)left : -1) < 0 &&
		    errno != EINTR)
			return strerror(errno);
		for (int i = 0; i < 2; i++)
			if (waiting[i].fd >= 0 && waiting[i].revents &&
			    !read_piece(&streams[i], &waiting[i]) && !i)
				return "its output is too large";
	}
	return NULL;
}

static int finish(const char *name, struct stream streams[2], pid_t pid,
		  const struct program_limits *limits, struct err *err)
{
	const char *passed = read_streams(streams, limits->seconds);
	struct err ignored;

	if (!passed)
		return wait_for(pid, name, err);
	kill(limits->seconds ? -pid : pid, SIGKILL);
	wait_for(pid, name, &ignored);
	return err_set(err, 0, "%s: stopped: %s", name, passed);
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

int program_run_within(const char *const *argv,
		       const struct program_limits *limits, struct buf *out,
		       struct buf *errors, struct err *err)
{
	struct stream streams[2] = {
		{.out = out,
		 .most = limits->output ? out->len + limits->output : SIZE_MAX},
		{.out = errors, .most = errors->len + ERRORS_MAX}};
	int error, rc = -1;
	pid_t pid = 0;

	if (open_streams(streams, err))
		return -1;
	error = spawn(argv, limits, streams, &pid);
	close(streams[0].ends[1]);
	close(streams[1].ends[1]);
	if (error)
		err_set(err, error, "%s cannot be run: %s", argv[0],
			strerror(error));
	else
		rc = finish(argv[0], streams, pid, limits, err);
	close(streams[0].ends[0]);
	close(streams[1].ends[0]);
	return rc;
}

int program_run(const char *const *argv, struct buf *out, struct buf *errors,
		struct err *err)
{
	static const struct program_limits none;

	return program_run_within(argv, &none, out, errors, err);
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
