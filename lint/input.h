/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading a file into a buffer that is used again for the next one: no
 * fstat(), no mmap(), which cost more than the read of a small file.
 */
#ifndef LINT_INPUT_H
#define LINT_INPUT_H

#include <stdbool.h>
#include <stddef.h>

struct input {
	char *text; /* NUL behind the last byte */
	size_t len, size;
};

/* 0, or an errno value; EFBIG: the file is larger than limit. regular: it is
 * known to be no pipe, so that a short read is the last one. */
int input_read(struct input *input, int dirfd, const char *path, size_t limit,
	       bool regular);
int input_read_fd(struct input *input, int fd, size_t limit);
void input_release(struct input *input);
/* What went wrong, in words: strerror(), or a text of our own. */
const char *input_strerror(int error);

#endif
