/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads manifests. A buffer that grew for a large file is freed before the next
 * file, so that memory depends only on the files that are being linted.
 */
#include "input.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	KEPT = 2 * 1024 * 1024,
	WAIT = 200, /* in milliseconds */
};

int input_read(struct buf *input, int dirfd, const char *path,
	       const struct file_how *how)
{
	if (input->size > KEPT)
		buf_release(input);
	buf_reset(input);
	return file_read(dirfd, path, how, input);
}

int input_read_stdin(struct buf *input)
{
	return file_read_fd(STDIN_FILENO, FILE_MANIFEST_MAX, false, input);
}

bool input_waits(bool wait)
{
	struct stat st;
	int bytes = 0;

	if (fstat(STDIN_FILENO, &st) || !S_ISFIFO(st.st_mode))
		return false;
	if (wait)
		poll(&(struct pollfd){STDIN_FILENO, POLLIN, 0}, 1, WAIT);
	return !ioctl(STDIN_FILENO, FIONREAD, &bytes) && bytes > 0;
}

const char *input_strerror(int error)
{
	_Static_assert(FILE_MANIFEST_MAX >> 20 == 64, "the text says it");
	if (error == EFBIG)
		return "larger than 64 MiB";
	if (error == EPIPE)
		return "a pipe that nothing writes to";
	return error == EINVAL ? "not a regular file" : strerror(error);
}
