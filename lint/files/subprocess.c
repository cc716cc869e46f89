/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Standard output comes through a pipe; standard error goes to a file without
 * a name and is read at the end, so that neither waits for the other.
 */
#include "subprocess.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"

extern char **environ;

static int spawn(const char *const *argv, const int fds[3], pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	int error;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null",
					 O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, fds[2], STDERR_FILENO);
	error = posix_spawnp(pid, argv[0], &actions, NULL,
			     (char *const *)(uintptr_t)argv, environ);
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

int program_run(const char *const *argv, struct buf *out, struct buf *errors,
		struct err *err)
{
	int fds[3], error, rc = -1;
	pid_t pid = 0;

	if (pipe2(fds, O_CLOEXEC))
		return err_set(err, errno, "pipe: %s", strerror(errno));
	fds[2] = memfd_create("errors", MFD_CLOEXEC);
	error = fds[2] < 0 ? errno : spawn(argv, fds, &pid);
	close(fds[1]);
	if (error) {
		err_set(err, error, "%s cannot be run: %s", argv[0],
			strerror(error));
	} else {
		file_read_fd(fds[0], SIZE_MAX, false, out);
		rc = wait_for(pid, argv[0], err);
		lseek(fds[2], 0, SEEK_SET);
		file_read_fd(fds[2], SIZE_MAX, false, errors);
	}
	close(fds[0]);
	if (fds[2] >= 0)
		close(fds[2]);
	return rc;
}
