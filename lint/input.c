/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading files. A buffer that one large file has grown is given back before
 * the next file, so that memory follows the files at hand.
 */
#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"

enum { SMALL = 64 * 1024, KEPT = 2 * 1024 * 1024 };

static void resize(struct input *input, size_t size)
{
	char *text = realloc(input->text, size + 1);

	if (!text)
		BUG("out of memory");
	input->text = text;
	input->size = size;
}

/* A regular file gives less than was asked for only at its end. */
static int read_to_end(struct input *input, int fd, size_t limit, bool regular)
{
	input->len = 0;
	if (input->size > KEPT)
		input_release(input);
	for (;;) {
		ssize_t n;

		if (input->len == input->size)
			resize(input, input->size ? input->size * 2 : SMALL);
		n = read(fd, input->text + input->len,
			 input->size - input->len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno;
		if (!n)
			break;
		input->len += (size_t)n;
		if (input->len > limit)
			return EFBIG;
		if (regular && input->len < input->size)
			break;
	}
	input->text[input->len] = '\0';
	return 0;
}

int input_read_fd(struct input *input, int fd, size_t limit)
{
	return read_to_end(input, fd, limit, false);
}

int input_read(struct input *input, int dirfd, const char *path, size_t limit,
	       bool regular)
{
	int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	int error;

	if (fd < 0)
		return errno;
	error = read_to_end(input, fd, limit, regular);
	close(fd);
	return error;
}

void input_release(struct input *input)
{
	free(input->text);
	memset(input, 0, sizeof(*input));
}

/* The limit is that of load_limits_default, wherever a file is read. */
const char *input_strerror(int error)
{
	return error == EFBIG ? "larger than 64 MiB" : strerror(error);
}
